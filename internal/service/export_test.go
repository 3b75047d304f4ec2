package service

// BreakStorage closes the journal under a running service.
func (s *Service) BreakStorage() error { return s.journal.close() }
