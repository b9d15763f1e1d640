package search

import "regexp/syntax"

// MaxSteps bounds regular expressions. They are matched in a time that grows with the text times their steps, and texts
// have many megabytes, so the steps are what must stay small.
const MaxSteps = 2000

// Steps tells about how many instructions an expression takes, without making them.
func Steps(re *syntax.Regexp) int {
	const most = 1 << 30
	n := 1 + len(re.Rune)
	if re.Op == syntax.OpCharClass {
		n = 1 + len(re.Rune)/16 // one instruction, whose ranges are searched
	}
	for _, sub := range re.Sub {
		n += Steps(sub)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(re.Min, re.Max, 1)
	}
	return min(n, most)
}
