#!/usr/bin/env bash
# Sees to it that tests find a PostgreSQL to start: where PAWL_POSTGRES names no server and there is no initdb, it installs
# Debian's package. That takes root and apt-get; without them it says so and fails.
set -euo pipefail

found() {
  [ -n "${PAWL_POSTGRES:-}" ] || command -v initdb >/dev/null || compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null
}

if found; then exit 0; fi
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
  echo "There is no PostgreSQL: set PAWL_POSTGRES to the DSN of one, or install initdb and pg_ctl." >&2
  exit 1
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -q
apt-get install -q -y --no-install-recommends postgresql-common
# The tests start servers of their own; Debian's needn't run.
sed -i 's/^#\?create_main_cluster.*/create_main_cluster = false/' /etc/postgresql-common/createcluster.conf
apt-get install -q -y --no-install-recommends postgresql
found
