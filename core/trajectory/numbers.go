package trajectory

import (
	"unicode"
	"unicode/utf8"
)

// Token ids and log probabilities are by far the longest arrays of a trajectory. Nearly all of them hold
// nothing but short plain numbers, which a look at the bytes shows.

// maxRun is the number of digits that fits an int64 whatever the digits.
const maxRun = 18

// wholeNumbers tells whether a valid array is certain to hold only ints. False says nothing.
func wholeNumbers(array []byte) bool {
	run := 0
	for _, c := range array[1 : len(array)-1] {
		switch {
		case c-'0' < 10:
			if run++; run > maxRun {
				return false
			}
		case c == ',', c == '-', c == ' ', c == '\t', c == '\n', c == '\r':
			run = 0
		default:
			return false
		}
	}
	return true
}

// plainNumbers tells whether a valid array is certain to hold only numbers. False says nothing.
func plainNumbers(array []byte) bool {
	for _, c := range array[1 : len(array)-1] {
		switch {
		case c >= '+' && c <= '9' && c != '/', c == 'e', c == 'E', c == ' ', c == '\t', c == '\n', c == '\r':
		default:
			return false
		}
	}
	return true
}

// trimmed tells whether nothing of a string remains when white space is taken off. What counts as white
// space is wider here than for numbers: the four separators from 1C on are part of it.
func trimmed(s []byte) bool {
	for len(s) > 0 {
		c, size := utf8.DecodeRune(s)
		if !unicode.IsSpace(c) && (c < 0x1C || c > 0x1F) {
			return false
		}
		s = s[size:]
	}
	return true
}
