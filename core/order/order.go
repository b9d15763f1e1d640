// Package order gives file names and paths the order a person expects: shard 2 before shard 10.
//
// A path is a list of segments between "/". Segments are compared one by one, each completely before the next, so
// that everything below one folder stays together. Inside a segment a run of ASCII digits counts as one number of
// any length; every other byte counts as itself. Two segments with the same numbers and the same other bytes can
// only differ in leading zeros: the first number with fewer of them comes first.
//
// The result is a total order: Compare gives 0 for equal strings alone. That is why no library is used here. The
// usual ones stop at 64 bits, call "a01b" and "a1b" equal, or let the dot of a longer name sort before the slash of
// a folder; a list that is part of a link must come out the same on every host.
package order

import "strings"

// Compare gives a negative number, 0 or a positive number as path a comes before, is, or comes after path b.
func Compare(a, b string) int {
	for {
		sa, restA, moreA := strings.Cut(a, "/")
		sb, restB, moreB := strings.Cut(b, "/")
		if c := Name(sa, sb); c != 0 {
			return c
		}
		switch {
		case moreA && moreB:
			a, b = restA, restB
		case moreA:
			return 1
		case moreB:
			return -1
		default:
			return 0
		}
	}
}

// Name compares two names as one segment each; a slash has no special meaning.
func Name(a, b string) int {
	zeros := 0 // first difference in leading zeros, decides only if nothing else does
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		if !digit(a[i]) || !digit(b[j]) {
			if a[i] != b[j] {
				return int(a[i]) - int(b[j])
			}
			i++
			j++
			continue
		}
		za, na, endA := number(a, i)
		zb, nb, endB := number(b, j)
		if len(na) != len(nb) {
			return len(na) - len(nb)
		}
		if c := strings.Compare(na, nb); c != 0 {
			return c
		}
		if zeros == 0 {
			zeros = za - zb
		}
		i, j = endA, endB
	}
	if c := (len(a) - i) - (len(b) - j); c != 0 {
		return c // one is used up, so the longer rest comes later
	}
	return zeros
}

// number splits the digits that start at s[i] into the count of leading zeros and the rest, which is empty for 0.
func number(s string, i int) (zeros int, value string, end int) {
	start := i
	for i < len(s) && s[i] == '0' {
		i++
	}
	zeros = i - start
	end = i
	for end < len(s) && digit(s[end]) {
		end++
	}
	return zeros, s[i:end], end
}

func digit(c byte) bool { return '0' <= c && c <= '9' }
