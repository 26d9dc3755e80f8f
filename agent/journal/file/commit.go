package file

import "time"

// commit writes a change to the end of the log, makes it as durable as the store is asked to, and
// applies it to the state. After an error the change is taken back; if that fails too, it may be in
// the log or not.
func (s *session) commit(c *change) error {
	if s.file == nil {
		return errCreate
	}
	if s.n == 0 {
		c.begin(s.name)
	}
	c.N, c.At = s.n+1, normalize(time.Now())
	line, err := encodeLine(c)
	if err != nil {
		return err
	}
	end := s.end + int64(len(line))
	if _, err = s.file.WriteAt(line, s.end); err == nil {
		err = s.sync(end)
	}
	if err != nil {
		_ = s.file.Truncate(s.end) // if this fails, the next call finds the change, incomplete or not
		s.reset()
		return err
	}
	if err := s.apply(c, int64(len(line))); err != nil {
		return err
	}
	s.acknowledge()
	return nil
}

// ensureSynced is called before something is acknowledged that is in the log already: whoever wrote
// it may have died before it was synced.
func (s *session) ensureSynced() error {
	if s.file == nil {
		return nil
	}
	if err := s.sync(s.end); err != nil {
		return err
	}
	s.acknowledge()
	return nil
}

// sync makes the log durable up to end, if the store does that at all. When it fails, nobody knows
// what has reached the disk, and a second sync may succeed without writing it. So the log is marked
// as unsynced, and replaced before the next change.
func (s *session) sync(end int64) error {
	if !s.durable || end == s.synced && s.dirSynced {
		return nil
	}
	if err := s.file.Sync(); err != nil {
		s.store.setUnsynced(s.name, true)
		return err
	}
	if !s.dirSynced {
		if err := s.store.fs.Sync(); err != nil {
			return err
		}
		s.dirSynced = true
	}
	s.synced = end
	return nil
}

// replaceUnsynced writes a log whose sync has failed to a new file. Each line is verified.
func (s *session) replaceUnsynced() error {
	if s.n > 0 {
		if err := s.rewrite(s.head.Pruned); err != nil {
			return err
		}
	}
	s.store.setUnsynced(s.name, false)
	return nil
}
