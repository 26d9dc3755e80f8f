package serve

func (s *server) addPage(add adder) {}
