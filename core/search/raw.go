package search

import (
	"bytes"
	"slices"
	"unicode"
	"unicode/utf8"
)

// A needle is a literal as it may stand in a line of JSON. Looking for it there can find it where it is not, for
// example in a key, but never misses it.
type needle struct {
	fold bool

	// The stretch of the literal that is looked for: characters that JSON writers leave as they are. Lower case if fold
	// is set. Empty if the literal has none.
	run  []byte
	rare int  // the place in run of the byte that is probably the rarest
	kin  bool // some letter of run has a relative beyond ASCII: the Kelvin sign or the long s

	// Without a run: the forms of one character, as UTF-8 and as the first \uXXXX of its escape.
	forms   [][]byte
	escapes []rune
}

// ordinary tells whether a character stands in JSON as it is, unless a writer escapes for the sake of escaping.
func ordinary(r rune) bool { return ' ' <= r && r < 0x7F && r != '"' && r != '\\' && r != '/' }

// common lists bytes from the most frequent one down, in transcripts as JSON. Others are rarer.
const common = " etaoinsrlhdcu\"mpf,gy:wb.v_k0-1{}x2T()[]5'3468I79AESCNRqjOLPzMDFBW=#HGUVK>*<Y$J;QX+|!?Z&@%~^`"

func rarity(c byte) int {
	if i := bytes.IndexByte([]byte(common), c); i >= 0 {
		return i
	}
	return len(common)
}

// needleOf makes a needle of a literal.
func needleOf(literal string, fold bool) needle {
	n := needle{fold: fold}
	best := -1
	for at := 0; at < len(literal); {
		end := at
		for end < len(literal) && ordinary(rune(literal[end])) {
			end++
		}
		if end > at {
			run := []byte(literal[at:end])
			if fold {
				run = lower(run)
			}
			// A long stretch is good, a rare byte is better.
			rare, score := 0, 0
			for i, c := range run {
				if rarity(c) > rarity(run[rare]) {
					rare = i
				}
			}
			if score = 4*min(len(run), 12) + rarity(run[rare]); score > best {
				best, n.run, n.rare = score, run, rare
			}
			at = end
			continue
		}
		_, size := utf8.DecodeRuneInString(literal[at:])
		at += size
	}
	if n.run != nil {
		n.kin = fold && bytes.ContainsAny(n.run, "ks")
		return n
	}
	for _, r := range literal {
		forms := orbit(r, fold)
		if slices.ContainsFunc(forms, func(form rune) bool { return form < utf8.RuneSelf }) {
			continue
		}
		for _, form := range forms {
			n.forms = append(n.forms, []byte(string(form)))
			if form > 0xFFFF {
				form = 0xD800 + (form-0x10000)>>10
			}
			n.escapes = append(n.escapes, form)
		}
		break
	}
	return n
}

// orbit gives a character with those that folding takes for the same.
func orbit(r rune, fold bool) []rune {
	list := []rune{r}
	if fold {
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			list = append(list, f)
		}
	}
	return list
}

func lower(b []byte) []byte {
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return b
}

// in tells whether the needle may stand in raw JSON.
func (n *needle) in(raw []byte) bool {
	switch {
	case n.run != nil:
		return n.find(raw) >= 0 || n.odd(raw)
	case n.forms != nil:
		for _, form := range n.forms {
			if bytes.Contains(raw, form) {
				return true
			}
		}
		return escaped(raw, func(r rune) bool { return slices.Contains(n.escapes, r) })
	}
	return true
}

// find gives the place of the first run, −1 if there is none.
func (n *needle) find(b []byte) int {
	w := n.walk(b)
	return w.next(0)
}

// A walk goes from one rare byte of a text to the next. A letter has two forms, and each is looked for by itself; where
// the next of either stands is kept, as one of them can be far behind many of the other.
type walk struct {
	n     *needle
	text  []byte
	forms [2]byte
	rare  [2]int // place of the next one of each form, len(text) if there is none
}

func (n *needle) walk(text []byte) walk {
	w := walk{n: n, text: text, rare: [2]int{-1, len(text)}}
	w.forms[0] = n.run[n.rare]
	if c := w.forms[0]; n.fold && 'a' <= c && c <= 'z' {
		w.forms[1], w.rare[1] = c-('a'-'A'), -1
	}
	return w
}

// next gives the place of the first run that begins at from or behind it, −1 if there is none. From one call to the next
// from grows.
func (w *walk) next(from int) int {
	for at := from + w.n.rare; ; at++ {
		for i, c := range w.forms {
			if w.rare[i] >= at {
				continue
			}
			w.rare[i] = len(w.text)
			if at < len(w.text) {
				if found := bytes.IndexByte(w.text[at:], c); found >= 0 {
					w.rare[i] = at + found
				}
			}
		}
		if at = min(w.rare[0], w.rare[1]); at >= len(w.text) {
			return -1
		}
		if start := at - w.n.rare; w.n.here(w.text, start) {
			return start
		}
	}
}

// here tells whether run stands at start.
func (n *needle) here(b []byte, start int) bool {
	if len(b)-start < len(n.run) {
		return false
	}
	b = b[start : start+len(n.run)]
	if !n.fold {
		return string(b) == string(n.run)
	}
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != n.run[i] {
			return false
		}
	}
	return true
}

// odd tells whether raw JSON has characters of runs in another form than their own.
func (n *needle) odd(raw []byte) bool {
	if n.kin && related(raw) {
		return true
	}
	return escaped(raw, func(r rune) bool { return ordinary(r) || n.kin && (r == longS || r == kelvin) })
}

const (
	longS  = '\u017f'
	kelvin = '\u212a'
)

var longSForm, kelvinForm = []byte(string(rune(longS))), []byte(string(rune(kelvin)))

// related tells whether a text has a letter beyond ASCII that folds to one in it.
func related(text []byte) bool {
	return bytes.Contains(text, longSForm) || bytes.Contains(text, kelvinForm)
}

// escaped tells whether some \uXXXX stands for a character that fits, or is the first half of one that does.
func escaped(raw []byte, fits func(rune) bool) bool {
	for {
		i := bytes.IndexByte(raw, '\\')
		if i < 0 || i+1 >= len(raw) {
			return false
		}
		if raw[i+1] == 'u' && len(raw)-i >= 6 {
			if r, ok := unit(raw[i+2 : i+6]); ok && fits(r) {
				return true
			}
		}
		raw = raw[i+2:]
	}
}

func unit(hex []byte) (r rune, ok bool) {
	for _, c := range hex {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}
