INSERT INTO teams (id, name) VALUES ('team_dev', 'dev-team');
INSERT INTO sites (id, team_id, name, domain, preview_domain, default_environment_id)
  VALUES ('site_local', 'team_dev', 'local-site', 'localhost', 'localhost:4000', 'env_main');
INSERT INTO environments (id, site_id, name) VALUES ('env_main', 'site_local', 'main');
INSERT INTO locales (code, name, status) VALUES ('en', 'English', 'active'), ('de', 'Deutsch', 'inactive');
