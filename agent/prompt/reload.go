package prompt

import "log/slog"

// reload reads all files and returns the texts that hold: those of the files as they are, or the last good ones.
//
// Every reading takes a ticket before it begins, and only one with a higher ticket replaces what another has found. So a
// composition that begins after an edit sees it, whatever readings are under way, and no lock is held while files are read.
func (s *Set) reload() *texts {
	ticket := s.ticket.Add(1)
	dir := gather(s.fsys, &s.cfg)
	was := s.current.Load()
	t, err := was.texts, error(nil)
	if !dir.same(was.dir) {
		t, err = s.make(dir) // nil if it can't be used
	}
	holds, changed := s.install(ticket, dir, t)
	switch {
	case !changed:
	case err != nil:
		s.cfg.Logger.Error("prompt: the files have changed and can't be used; the last good text stays", slog.Any("error", err),
			slog.String("version", holds.version))
	default:
		s.cfg.Logger.Info("prompt: the files have changed", slog.String("version", holds.version))
		s.warn(holds)
	}
	return holds
}

// install makes what a reading found hold, unless a later reading came first. The texts t are those of dir, or nil if they
// can't be used. It returns what holds now, and whether dir is news.
func (s *Set) install(ticket uint64, dir *folder, t *texts) (holds *texts, changed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.current.Load()
	if ticket < s.newest {
		return now.texts, false
	}
	s.newest = ticket
	if dir.same(now.dir) {
		return now.texts, false
	}
	if t == nil {
		t = now.texts
	}
	s.current.Store(&attempt{dir, t})
	return t, true
}
