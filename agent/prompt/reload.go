package prompt

import "log/slog"

// reload reads all files and returns the texts to use: those of the present files, or the last
// valid ones.
//
// Every reading takes a ticket before it begins, and a reading never replaces the result of one
// with a higher ticket. So a composition that begins after an edit uses it, whatever other readings
// are in progress, and no lock is held while files are read.
func (s *Set) reload() *texts {
	ticket := s.ticket.Add(1)
	dir := gather(s.fsys, &s.cfg)
	for {
		was := s.current.Load()
		next, err := was, error(nil)
		if !dir.same(was.dir) {
			next = &attempt{dir: dir}
			if next.texts, err = s.make(dir); err != nil {
				next.texts = was.texts
			}
		}
		holds, done := s.install(ticket, was, next)
		if !done {
			continue // another was installed since was was looked at
		}
		if holds == next && next != was {
			s.tell(next.texts, err)
		}
		return holds.texts
	}
}

// install replaces was by next. If a later reading was installed first, that one stays. It does
// nothing if was is no longer installed.
func (s *Set) install(ticket uint64, was, next *attempt) (holds *attempt, done bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.current.Load()
	if ticket < s.newest {
		return now, true
	}
	if now != was {
		return nil, false
	}
	s.newest = ticket
	s.current.Store(next)
	return next, true
}

// tell logs that the files have changed.
func (s *Set) tell(t *texts, err error) {
	if err != nil {
		s.cfg.Logger.Error("prompt: the files have changed and are invalid; the last valid text stays in use",
			slog.Any("error", err),
			slog.String("version", t.version))
		return
	}
	s.cfg.Logger.Info("prompt: the files have changed", slog.String("version", t.version))
	s.warn(t)
}
