package gojs

// LiveValues is the number of values that the guest holds.
func (in *Instance) LiveValues() int { return len(in.refs.slots) - len(in.refs.free) }

// ImportNames are the names of the functions that a guest can import.
func ImportNames() []string {
	var names []string
	for _, imp := range imports {
		names = append(names, imp.name)
	}
	return names
}
