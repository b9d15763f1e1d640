package gojs

// LiveValues is the number of values that the guest holds.
func (in *Instance) LiveValues() int { return len(in.refs.slots) - len(in.refs.free) }
