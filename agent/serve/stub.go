package serve

func (s *server) addAGUI(add adder) {}
func (s *server) addPage(add adder) {}
