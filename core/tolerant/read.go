package tolerant

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rollscope/rollscope/core/jsonscan"
)

const (
	// MaxLine is the longest line that is worth the reading, in bytes. Callers leave longer ones alone: a row
	// of that size is beyond what a page can show of a damaged one.
	MaxLine = 256 << 20
	// MaxValues is how many records of one line are given; the rest is left out as if it were none.
	MaxValues = 1000
	// maxRepairs is how many repairs are listed one by one. All are counted.
	maxRepairs = 100
)

// A Result is what could be read of a line.
type Result struct {
	Values  [][]byte // the records, each an object that the strict scanner accepts; none if there is none
	Repairs []Repair // in the order of the line, at most the first hundred
	Torn    bool     // the line ends inside a record

	counts [kinds]tally
}

// Read reads one line.
func Read(line []byte) Result { return new(Reader).Read(line) }

// A Reader reads lines one after the other and reuses its memory. The zero Reader is ready.
type Reader struct {
	line    []byte
	out     []byte
	ends    []int // of the records in out
	stack   []level
	pending pending
	result  Result
	numbers jsonscan.Scanner
}

// level is an open container.
type level struct {
	object bool
	any    bool // has a member or element already
	comma  bool // a comma was read and nothing behind it yet
}

// pending is a member's name that waits for its value.
type pending struct {
	waiting bool
	out     int // length of the output without it
	line    int // where the name begins
}

// keep is how much memory a Reader holds on to between lines.
const keep = 1 << 20

// Read reads one line. The result is valid until the next call.
func (r *Reader) Read(line []byte) Result {
	r.line, r.ends, r.result = line, r.ends[:0], Result{Values: [][]byte{}, Repairs: []Repair{}}
	if r.out = r.out[:0]; cap(r.out) > keep && cap(r.out)/4 > len(line) {
		r.out = nil
	}
	for i := 0; ; {
		i = r.between(i)
		if i == len(line) {
			break
		}
		if line[i] != '{' || len(r.ends) == MaxValues {
			if len(r.ends) > 0 {
				r.repair(Trailing, i, len(line)-i)
			}
			break
		}
		if len(r.ends) > 0 {
			r.repair(Glued, i, 0)
		}
		if cap(r.out) == 0 {
			// Repairs seldom make a line longer.
			r.out = make([]byte, 0, len(line)+len(line)/64+64)
		}
		i = r.object(i)
		r.ends = append(r.ends, len(r.out))
	}
	from := 0
	for _, end := range r.ends {
		r.result.Values = append(r.result.Values, r.out[from:end:end])
		from = end
	}
	for k := range r.result.Repairs {
		p := &r.result.Repairs[k]
		p.Text = visible(line[p.Offset : p.Offset+p.Length])
		if last := len(r.ends) - 1; p.Value > last && last >= 0 {
			p.Value, p.At = last, len(r.result.Values[last])
		}
	}
	if len(r.ends) == 0 {
		// Without a record there is nothing that could have been repaired.
		r.result = Result{Values: [][]byte{}, Repairs: []Repair{}}
	}
	if r.line = nil; len(line) > keep {
		r.numbers = jsonscan.Scanner{} // it points into the line
	}
	return r.result
}

// start is where the current record begins in the output.
func (r *Reader) start() int {
	if len(r.ends) == 0 {
		return 0
	}
	return r.ends[len(r.ends)-1]
}

// repair notes a change at the end of what is written so far.
func (r *Reader) repair(kind Kind, offset, length int) {
	n := &r.result.counts[kind]
	n.bytes += int64(length)
	list := r.result.Repairs
	if last := len(list) - 1; last >= 0 && length > 0 && list[last].Kind == kind && list[last].Offset+list[last].Length == offset && list[last].Value == len(r.ends) {
		list[last].Length += length
		return
	}
	n.places++
	if len(list) < maxRepairs {
		r.result.Repairs = append(list, Repair{Kind: kind, Offset: offset, Length: length, Value: len(r.ends), At: len(r.out) - r.start()})
	}
}

const bom = "\xEF\xBB\xBF"

// space skips what means nothing between two tokens, and notes it unless it is white space.
func (r *Reader) space(i int) int {
	for i < len(r.line) {
		switch c := r.line[i]; {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			i++
		case c == 0:
			end := i + 1
			for end < len(r.line) && r.line[end] == 0 {
				end++
			}
			r.repair(Zeros, i, end-i)
			i = end
		case c < ' ':
			r.repair(Control, i, 1)
			i++
		case c == bom[0] && bytes.HasPrefix(r.line[i:], []byte(bom)):
			r.repair(BOM, i, len(bom))
			i += len(bom)
		default:
			return i
		}
	}
	return i
}

// between skips what may stand in front of a record: space, white space that is none in JSON, the mark of a
// text sequence, and behind a record a comma.
func (r *Reader) between(i int) int {
	for {
		for i < len(r.line) && (r.line[i] == '\v' || r.line[i] == '\f' || r.line[i] == '\x1E' && len(r.ends) == 0) {
			i++
		}
		end := r.space(i)
		if end < len(r.line) && r.line[end] == ',' && len(r.ends) > 0 {
			r.repair(Comma, end, 1)
			end++
		}
		if end == i {
			return i
		}
		i = end
	}
}

// The states of reading an object.
type state uint8

const (
	wantKey state = iota
	wantColon
	wantValue
	wantNext // a comma or a closing bracket
)

// object reads the record that begins at i and returns the offset behind what belongs to it.
func (r *Reader) object(i int) int {
	r.stack, r.pending = r.stack[:0], pending{}
	r.out = append(r.out, '{')
	r.stack = append(r.stack, level{object: true})
	i++
	want := wantKey
	for {
		i = r.space(i)
		if i == len(r.line) {
			return r.cut(i)
		}
		top := &r.stack[len(r.stack)-1]
		c := r.line[i]
		switch {
		case c == top.closer() && (want == wantNext || want == wantKey || want == wantValue && !r.pending.waiting):
			if top.comma {
				r.repair(Comma, i, 0)
			}
			r.out = append(r.out, c)
			r.stack = r.stack[:len(r.stack)-1]
			i++
			if len(r.stack) == 0 {
				return i
			}
			want = wantNext
		case want == wantNext:
			if c != ',' {
				return r.broken(i)
			}
			i++
			top.comma = true
			want = top.content()
		case r.pending.waiting && (c == ',' || c == '}'):
			r.forget(i)
			want = wantNext
		case want == wantColon:
			if c != ':' {
				return r.broken(i)
			}
			r.out = append(r.out, ':')
			i++
			want = wantValue
		case c == ',':
			r.repair(Comma, i, 1)
			i++
		case want == wantKey:
			if c != '"' {
				return r.broken(i)
			}
			r.pending = pending{true, len(r.out), i}
			r.separate(top)
			end, whole := r.text(i)
			if !whole {
				return r.cut(len(r.line))
			}
			i = end
			want = wantColon
		case c == '{' || c == '[':
			r.begin(top)
			if len(r.stack) == jsonscan.MaxDepth {
				end, whole := r.deep(i)
				if !whole {
					return r.cut(end)
				}
				i, want = end, wantNext
				continue
			}
			r.out = append(r.out, c)
			r.stack = append(r.stack, level{object: c == '{'})
			i++
			want = r.stack[len(r.stack)-1].content()
		case c == '"':
			r.begin(top)
			end, whole := r.text(i)
			if !whole {
				return r.cut(end)
			}
			i, want = end, wantNext
		case wordByte(c):
			r.begin(top)
			end := i + 1
			for end < len(r.line) && wordByte(r.line[end]) {
				end++
			}
			r.word(i, end)
			if end == len(r.line) {
				return r.cut(end)
			}
			i, want = end, wantNext
		default:
			return r.broken(i)
		}
	}
}

func (l *level) closer() byte {
	if l.object {
		return '}'
	}
	return ']'
}

// content is what a container expects behind its opening bracket or a comma.
func (l *level) content() state {
	if l.object {
		return wantKey
	}
	return wantValue
}

// separate puts a comma between two members or elements.
func (r *Reader) separate(l *level) {
	if l.any {
		r.out = append(r.out, ',')
	}
}

// begin is called in front of every value.
func (r *Reader) begin(l *level) {
	if !l.object {
		r.separate(l)
	}
	l.any, l.comma = true, false
	r.pending.waiting = false
}

// takeBack unwrites a member's name that has no value. What was repaired in it stands where it was.
func (r *Reader) takeBack() {
	r.out = r.out[:r.pending.out]
	r.pending.waiting = false
	at, list := len(r.out)-r.start(), r.result.Repairs
	for k := len(list) - 1; k >= 0 && list[k].Value == len(r.ends) && list[k].At > at; k-- {
		list[k].At = at
	}
}

// forget leaves a name without a value out; what follows begins at i.
func (r *Reader) forget(i int) {
	from := r.pending.line
	r.takeBack()
	r.stack[len(r.stack)-1].comma = false
	r.repair(Member, from, i-from)
}

// cut closes everything where the line ends.
func (r *Reader) cut(i int) int {
	r.result.Torn = true
	r.end(i)
	return i
}

// broken closes everything in front of a byte that cannot stand. A record may begin there; anything else is
// left out up to the end of the line, because what it means is anybody's guess.
func (r *Reader) broken(i int) int {
	r.end(i)
	if r.line[i] == '{' {
		return i
	}
	r.repair(Trailing, i, len(r.line)-i)
	return len(r.line)
}

func (r *Reader) end(i int) {
	if r.pending.waiting {
		r.takeBack()
	}
	r.repair(Cut, i, 0)
	for n := len(r.stack) - 1; n >= 0; n-- {
		r.out = append(r.out, r.stack[n].closer())
	}
}

// wordByte tells which bytes numbers and words are made of.
func wordByte(c byte) bool {
	return c-'0' < 10 || c|0x20-'a' < 26 || c == '-' || c == '+' || c == '.' || c == '_'
}

// word writes the number or word between two offsets. At the end of the line nobody knows whether it is whole.
func (r *Reader) word(from, to int) {
	word := r.line[from:to]
	switch s := string(word[:min(len(word), 10)]); {
	case to == len(r.line):
		r.quote(word, "…")
		return
	case s == "true", s == "false", s == "null", plainNumber(word):
		r.out = append(r.out, word...)
		return
	case strings.Trim(s, "+-") == "NaN", strings.Trim(s, "+-") == "Infinity":
		r.repair(Constant, from, to-from)
	case word[0]-'0' < 10 || word[0] == '-' || word[0] == '+' || word[0] == '.':
		if _, err := r.numbers.Scan(word); err == nil {
			r.out = append(r.out, word...)
			return
		}
		r.repair(Number, from, to-from)
	default:
		r.repair(Word, from, to-from)
	}
	r.quote(word, "")
}

// plainNumber tells whether a word surely is a number: the usual case needs no scanner.
func plainNumber(word []byte) bool {
	if len(word) > 15 || word[0] == '0' && len(word) > 1 {
		return false
	}
	for _, c := range word {
		if c-'0' >= 10 {
			return false
		}
	}
	return true
}

// quote writes a word as a text. Its bytes need no escapes.
func (r *Reader) quote(word []byte, more string) {
	r.out = append(r.out, '"')
	r.out = append(r.out, word...)
	r.out = append(r.out, more...)
	r.out = append(r.out, '"')
}

// deep skips the container at i, in which nothing is looked at but where it ends, and writes a text in its place.
func (r *Reader) deep(i int) (end int, whole bool) {
	from, depth := i, 0
	for i < len(r.line) {
		switch r.line[i] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case '"':
			for i++; i < len(r.line) && r.line[i] != '"'; i++ {
				if r.line[i] == '\\' {
					i++
				}
			}
		}
		i++
		if depth == 0 {
			whole = true
			break
		}
	}
	end = min(i, len(r.line))
	whole = whole && i <= len(r.line)
	r.repair(Depth, from, end-from)
	r.out = append(r.out, `"⟨`...)
	r.out = strconv.AppendInt(r.out, int64(end-from), 10)
	r.out = append(r.out, ` bytes nested deeper than 1024 levels⟩"`...)
	return end, whole
}

// text writes the string at i, mended, and tells whether it has an end.
func (r *Reader) text(i int) (end int, whole bool) {
	line := r.line
	r.out = append(r.out, '"')
	i++
	from := i // of what is not written yet
	flush := func(to int) { r.out = append(r.out, line[from:to]...) }
	for i < len(line) {
		c := line[i]
		switch {
		case c == '"':
			flush(i + 1)
			return i + 1, true
		case c == '\\':
			size, form := escape(line[i:])
			if form == asWritten {
				i += size
				continue
			}
			flush(i)
			switch form {
			case halfPair:
				r.repair(Surrogate, i, size)
				r.out = utf8.AppendRune(r.out, utf8.RuneError)
			case unknown:
				r.repair(Escape, i, size)
				r.out = append(r.out, `\\`...)
			case unfinished:
				// It belongs to what is cut.
				r.out = append(r.out, '"')
				return len(line), false
			}
			i += size
			from = i
		case c == 0:
			flush(i)
			from = i
			for i < len(line) && line[i] == 0 {
				i++
			}
			r.repair(Zeros, from, i-from)
			from = i
		case c < ' ':
			flush(i)
			r.repair(Control, i, 1)
			r.out = appendControl(r.out, c)
			i++
			from = i
		case c < utf8.RuneSelf:
			i++
		default:
			if n, size := utf8.DecodeRune(line[i:]); n != utf8.RuneError || size > 1 {
				i += size
				continue
			}
			flush(i)
			from = i
			if !utf8.FullRune(line[i:]) {
				// The line ends inside a character.
				r.out = append(r.out, '"')
				return len(line), false
			}
			r.repair(UTF8, i, 1)
			r.out = utf8.AppendRune(r.out, utf8.RuneError)
			i++
			from = i
		}
	}
	flush(len(line))
	r.out = append(r.out, '"')
	return len(line), false
}

// The forms an escape can have.
type form uint8

const (
	asWritten  form = iota
	halfPair        // of a surrogate pair
	unknown         // size is that of the backslash alone
	unfinished      // the line ends inside it
)

// escape looks at the escape that b begins with.
func escape(b []byte) (size int, f form) {
	if len(b) == 1 {
		return 1, unfinished
	}
	if strings.IndexByte(`"\/bfnrt`, b[1]) >= 0 {
		return 2, asWritten
	}
	if b[1] != 'u' {
		return 1, unknown
	}
	high, f := unit(b)
	switch {
	case f != asWritten:
		return 1, f
	case high < 0xD800 || high > 0xDFFF:
		return 6, asWritten
	case high > 0xDBFF || len(b) < 8 || b[6] != '\\' || b[7] != 'u':
		return 6, halfPair
	}
	if low, f := unit(b[6:]); f != asWritten || low < 0xDC00 || low > 0xDFFF {
		return 6, halfPair
	}
	return 12, asWritten
}

// unit reads the four digits of an escape.
func unit(b []byte) (u int, f form) {
	for _, c := range b[2:min(len(b), 6)] {
		switch {
		case c-'0' < 10:
			u = u<<4 | int(c-'0')
		case c|0x20-'a' < 6:
			u = u<<4 | int(c|0x20-'a'+10)
		default:
			return 0, unknown
		}
	}
	if len(b) < 6 {
		return 0, unfinished
	}
	return u, asWritten
}

func appendControl(dst []byte, c byte) []byte {
	switch c {
	case '\b':
		return append(dst, `\b`...)
	case '\t':
		return append(dst, `\t`...)
	case '\n':
		return append(dst, `\n`...)
	case '\f':
		return append(dst, `\f`...)
	case '\r':
		return append(dst, `\r`...)
	}
	const digits = "0123456789abcdef"
	return append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
}
