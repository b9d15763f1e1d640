package jsonscan

import (
	"math"
	"math/bits"
	"strconv"
)

const (
	zerosWord = ones * '0'
	// patience is how many whole numbers of a list are read one by one before several at once are tried.
	patience = 8
	// sureDigits is how many digits a whole number may have and be an Int in any case.
	sureDigits = 18
)

// checkNumbers validates the number at i and, if list is set, those that follow it behind commas. It
// returns the offset behind the last one, how many more than one there are, and their kinds. If one of
// them cannot stand, end is 0 and more is where that one begins, counted from i.
func checkNumbers(text []byte, i int, list bool) (end int, more uint32, kinds Kinds) {
	first := i
	singles := patience // whole numbers read one by one since the last try to read more at once
	for {
		if list && singles >= patience {
			singles = 0
			if j, commas := wholeNumbers(text, i); commas > 0 {
				more += commas
				kinds |= 1 << Int
				if j == len(text) || text[j]-'0' >= 10 && text[j] != '-' {
					// What follows the last comma is no number, so the list ends in front of that comma.
					return j - 1, more - 1, kinds
				}
				i = j
			}
		}
		start := i
		if text[i] == '-' {
			i++
		}
		if i+16 > len(text) {
			goto slow
		}
		if text[i+1] == '.' && text[i]-'0' < 10 {
			i++ // as most floats of a list are written; no need to look for the point
		} else {
			x := load(text, i) ^ zerosWord
			run := bits.TrailingZeros64(noDigits(x)) >> 3
			if run == 0 || x&0xFF == 0 && run > 1 {
				return 0, uint32(start - first), 0
			}
			whole := i
			i += run
			if run == 8 {
				i = digitRun(text, i)
				if i-whole > sureDigits {
					goto slow
				}
			}
		}
		if i < len(text) && text[i] == '.' {
			i++
			fraction := i
			if i+24 <= len(text) {
				m := noDigits(load(text, i) ^ zerosWord)
				if m == 0 {
					i += 8
					if m = noDigits(load(text, i) ^ zerosWord); m == 0 {
						i += 8
						m = noDigits(load(text, i) ^ zerosWord)
					}
				}
				i += bits.TrailingZeros64(m) >> 3
				if m == 0 {
					i = digitRun(text, i)
				}
			} else {
				i = digits(text, i)
			}
			if i == fraction {
				return 0, uint32(start - first), 0
			}
			if i < len(text) && text[i]|0x20 == 'e' {
				goto slow
			}
			kinds |= 1 << Float
		} else {
			if i < len(text) && text[i]|0x20 == 'e' {
				goto slow
			}
			kinds |= 1 << Int
			singles++
		}
		goto next
	slow:
		{
			var kind Kind
			if i, kind = checkNumber(text, start); i == 0 {
				return 0, uint32(start - first), 0
			}
			kinds |= 1 << kind
		}
	next:
		if !list || len(text)-i < 3 || text[i] != ',' {
			return i, more, kinds
		}
		j := i + 1
		if text[j] == ' ' {
			j++
		}
		if c := text[j]; c-'0' >= 10 && c != '-' {
			return i, more, kinds
		}
		i = j
		more++
	}
}

// wholeNumbers validates a dense list of whole numbers from i on, as token ids are, without looking at
// single bytes: a word of eight must hold nothing but digits and commas, at least one comma, no two commas
// in a row and no zero in front of a digit. It stops where that ends and returns the place behind the last
// comma and the number of commas. A number in between has 14 digits at most.
func wholeNumbers(text []byte, i int) (end int, commas uint32) {
	end = i
	before := uint64(0x80) // the last byte of the word before, if it was a comma, as a mark of this word's first
	zero := uint64(0)      // the same, if it was a zero that begins a number
	for i+8 <= len(text) {
		x := load(text, i)
		digit := x ^ zerosWord
		comma := zeroBytes(x ^ ones*',')
		first := comma<<8 | before // bytes that begin a number
		if comma == 0 || noDigits(digit) != comma || comma&first != 0 {
			return end, commas
		}
		before = comma >> 56
		// A zero that begins a number must be the whole of it.
		begun := zeroBytes(digit) & first
		if (begun<<8|zero)&^comma != 0 {
			return end, commas
		}
		zero = begun >> 56
		commas += uint32(bits.OnesCount64(comma))
		end = i + 8 - bits.LeadingZeros64(comma)>>3
		i += 8
	}
	return end, commas
}

// digitRun gives the offset behind the decimal digits from i on.
func digitRun(text []byte, i int) int {
	for i+8 <= len(text) {
		if m := noDigits(load(text, i) ^ zerosWord); m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
		i += 8
	}
	return digits(text, i)
}

// checkNumber validates the number at i and returns the offset behind it, or 0 if it cannot stand.
func checkNumber(text []byte, i int) (end int, kind Kind) {
	start := i
	if text[i] == '-' {
		i++
	}
	whole := i
	i = digitRun(text, i)
	count := i - whole
	if count == 0 || count > 1 && text[whole] == '0' {
		return 0, 0
	}
	kind = Int
	if i < len(text) && text[i] == '.' {
		kind = Float
		fraction := i + 1
		if i = digitRun(text, fraction); i == fraction {
			return 0, 0
		}
	}
	exponent := int64(0)
	if i < len(text) && text[i]|0x20 == 'e' {
		kind = Float
		i++
		minus := i < len(text) && text[i] == '-'
		if i < len(text) && (text[i] == '-' || text[i] == '+') {
			i++
		}
		first := i
		if i = digitRun(text, first); i == first {
			return 0, 0
		}
		if !minus {
			exponent = saturated(text[first:i])
		}
	}
	// A number is smaller than ten to the power of its whole digits plus its exponent, so only these few
	// can reach infinity.
	if int64(count)+exponent > 308 && math.IsInf(parseFloat(text[start:i]), 0) {
		return 0, 0
	}
	if kind == Int && count > sureDigits {
		if _, ok := parseInteger(text[start:i]); !ok {
			kind = Float
		}
	}
	return i, kind
}

// saturated reads decimal digits up to a bound that no text length reaches.
func saturated(digits []byte) int64 {
	n := int64(0)
	for _, c := range digits {
		if n < 1<<40 {
			n = n*10 + int64(c-'0')
		}
	}
	return n
}

// parseInteger reads a literal if it is an Int.
func parseInteger(text []byte) (n Integer, ok bool) {
	digits := text
	if len(digits) > 0 && digits[0] == '-' {
		n.Negative = true
		digits = digits[1:]
	}
	if len(digits) == 0 || len(digits) > 20 {
		return Integer{}, false
	}
	for i, c := range digits {
		d := uint64(c - '0')
		if d > 9 {
			return Integer{}, false
		}
		if i >= sureDigits && n.Magnitude > (math.MaxUint64-d)/10 {
			return Integer{}, false
		}
		n.Magnitude = n.Magnitude*10 + d
	}
	if n.Negative && n.Magnitude > 1<<63 {
		return Integer{}, false
	}
	if n.Magnitude == 0 {
		n.Negative = false
	}
	return n, true
}

const (
	// shortNumber is the length up to which strconv reads every valid literal right. It gives up counting
	// an exponent of more than five digits, which matters once a long row of zeros makes up for it.
	shortNumber = 512
	// enoughDigits is how many digits of a literal decide about the nearest double; of the others it only
	// matters whether one of them is not zero. Every border between doubles has at most 767 digits, and
	// strconv misplaces the point of a number with more than 800.
	enoughDigits = 780
)

// parseFloat gives the double nearest to a valid literal, an infinity if it is too large for one.
func parseFloat(text []byte) float64 {
	if len(text) > shortNumber {
		text = shorten(text)
	}
	// A literal that is out of range gives an infinity and an error that says the same.
	f, _ := strconv.ParseFloat(string(text), 64)
	return f
}

// shorten writes a long literal with fewer digits and the same nearest double.
func shorten(text []byte) []byte {
	short := make([]byte, 0, enoughDigits+16)
	if text[0] == '-' {
		short, text = append(short, '-'), text[1:]
	}
	begin := len(short)
	var exponent int64
	point, more := false, false
	for i, c := range text {
		if c|0x20 == 'e' {
			minus := text[i+1] == '-'
			if minus || text[i+1] == '+' {
				i++
			}
			e := saturated(text[i+1:])
			if minus {
				e = -e
			}
			exponent += e
			break
		}
		if c == '.' {
			point = true
			continue
		}
		if point {
			exponent--
		}
		switch {
		case len(short)-begin == enoughDigits:
			more = more || c != '0'
			exponent++
		case c != '0' || len(short) > begin:
			short = append(short, c)
		}
	}
	if more {
		short = append(short, '1')
		exponent--
	}
	if len(short) == begin {
		return append(short, '0')
	}
	short = append(short, 'e')
	return strconv.AppendInt(short, max(-20000, min(exponent, 20000)), 10)
}

// numberKind tells an Int from a Float.
func numberKind(text []byte) Kind {
	if len(text) > sureDigits {
		if _, ok := parseInteger(text); ok {
			return Int
		}
		return Float
	}
	for _, c := range text {
		if c == '.' || c|0x20 == 'e' {
			return Float
		}
	}
	return Int
}
