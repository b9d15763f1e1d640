package jsonscan

// The functions of this file look at eight bytes at once, the first one lowest. Each returns a word whose
// lowest set bit is the top bit of the first byte that was looked for; bits above it may be wrong, since a
// borrow or a carry runs upwards from a byte that was found. Zero means that there is none.

const (
	ones = 0x0101010101010101
	tops = 0x8080808080808080
)

// stops looks for what ends a plain run inside a string: quote, backslash, control character, or a byte
// above ASCII. Taking bit 1 out of the comparison lets one subtraction find the quote, 0x22, together with
// everything below the space, 0x20.
func stops(x uint64) uint64 {
	return (((x ^ ones*0x02) - ones*0x21) | ((x ^ ones*'\\') - ones) | x) & tops
}

// quotes looks for what ends a plain run inside a string known to be valid: quote or backslash.
func quotes(x uint64) uint64 {
	quote := x ^ ones*'"'
	slash := x ^ ones*'\\'
	return ((quote-ones)&^quote | (slash-ones)&^slash) & tops
}

// noDigits looks for a byte that is no decimal digit, in a word whose bytes have '0' taken away by xor. The
// answer is exact up to the first byte above ASCII.
func noDigits(x uint64) uint64 { return ((x + ones*(0x80-10)) | x) & tops }

// closes looks for what ends a number or a literal in a text known to be valid: comma, closing bracket or
// white space. Bit 5 is all that sets ] and } apart.
func closes(x uint64) uint64 {
	return (((x ^ ones*',') - ones) | (((x | ones*0x20) ^ ones*'}') - ones) | (x - ones*0x21)) & tops
}

// zeroBytes marks every byte of x that is zero, and no other.
func zeroBytes(x uint64) uint64 { return ^((x&^tops + ^uint64(tops)) | x) & tops }

// space tells whether c is JSON white space.
func space(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }

// behindSpace gives the offset of the first byte from i on that is no white space. It is rarely needed and so kept
// out of the functions that ask for it.
//
//go:noinline
func behindSpace(text []byte, i int) int {
	for i < len(text) && space(text[i]) {
		i++
	}
	return i
}

// ends tells whether c cannot belong to a number or a literal.
func ends(c byte) bool { return c == ',' || c == ']' || c == '}' || space(c) }
