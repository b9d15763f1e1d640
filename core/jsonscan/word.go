package jsonscan

// The functions of this file look at eight bytes at once, the first one lowest. Each returns a word whose
// lowest set bit is the top bit of the first byte that was looked for; bits above it may be wrong, since a
// borrow or a carry runs upwards from a byte that was found. Zero means that there is none.

const (
	ones = 0x0101010101010101
	tops = 0x8080808080808080
)

// stops looks for what ends a plain run inside a string: quote, backslash or control character.
func stops(x uint64) uint64 {
	quote := x ^ ones*'"'
	slash := x ^ ones*'\\'
	return ((quote-ones)&^quote | (slash-ones)&^slash | (x-ones*0x20)&^x) & tops
}

// quotes looks for what ends a plain run inside a string known to be valid: quote or backslash.
func quotes(x uint64) uint64 {
	quote := x ^ ones*'"'
	slash := x ^ ones*'\\'
	return ((quote-ones)&^quote | (slash-ones)&^slash) & tops
}

// noDigits looks for a byte that is no decimal digit, in a word whose bytes have '0' taken away by xor.
func noDigits(x uint64) uint64 { return (x + ones*(0x80-10) | x) & tops }

// space tells whether c is JSON white space.
func space(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }

// ends tells whether c cannot belong to a number or a literal.
func ends(c byte) bool { return c == ',' || c == ']' || c == '}' || space(c) }
