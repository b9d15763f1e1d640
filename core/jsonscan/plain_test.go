package jsonscan

import (
	"bytes"
	"math"
	"math/big"
	"strconv"
	"testing"
	"unicode/utf8"
)

// The plain reader is a second implementation of the same rules, made to be read and not to be fast. It
// shares no code with the scanner. Tests hold the two against each other.

// A node is a value the plain reader read.
type node struct {
	kind    Kind
	at, end int
	truth   bool
	integer *big.Int
	float   float64
	text    string
	names   []string
	parts   []*node
	height  int
}

type plainReader struct {
	text []byte
	at   int
}

// readPlain reads a whole text; ok is false if it is refused.
func readPlain(text []byte) (n *node, ok bool) {
	if !utf8.Valid(text) {
		return nil, false
	}
	p := &plainReader{text: text}
	p.white()
	n = p.value(1)
	p.white()
	return n, n != nil && p.at == len(text)
}

func (p *plainReader) peek() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

func (p *plainReader) take(c byte) bool {
	if p.at < len(p.text) && p.text[p.at] == c {
		p.at++
		return true
	}
	return false
}

func (p *plainReader) white() {
	for p.at < len(p.text) && bytes.IndexByte([]byte(" \t\r\n"), p.text[p.at]) >= 0 {
		p.at++
	}
}

// value reads the value at the position, which stands on the given level if it is a container.
func (p *plainReader) value(level int) *node {
	n := &node{at: p.at, height: 1}
	switch p.peek() {
	case '{', '[':
		if level > 1024 || !p.container(n, level) {
			return nil
		}
	case '"':
		n.kind = String
		var ok bool
		if n.text, ok = p.str(); !ok {
			return nil
		}
	case 't', 'f', 'n':
		for word, kind := range map[string]Kind{"true": Bool, "false": Bool, "null": Null} {
			if bytes.HasPrefix(p.text[p.at:], []byte(word)) {
				n.kind, n.truth = kind, word == "true"
				p.at += len(word)
				break
			}
		}
		if n.kind == Absent {
			return nil
		}
	default:
		if !p.number(n) {
			return nil
		}
	}
	n.end = p.at
	return n
}

func (p *plainReader) container(n *node, level int) bool {
	closing := byte(']')
	n.kind = Array
	if p.take('{') {
		n.kind, closing = Object, '}'
	} else {
		p.at++
	}
	p.white()
	if p.take(closing) {
		return true
	}
	for {
		p.white()
		if n.kind == Object {
			name, ok := p.str()
			p.white()
			if !ok || !p.take(':') {
				return false
			}
			n.names = append(n.names, name)
			p.white()
		}
		part := p.value(level + 1)
		if part == nil {
			return false
		}
		n.parts = append(n.parts, part)
		n.height = max(n.height, part.height+1)
		p.white()
		if p.take(closing) {
			return true
		}
		if !p.take(',') {
			return false
		}
	}
}

func (p *plainReader) str() (string, bool) {
	if !p.take('"') {
		return "", false
	}
	var decoded []byte
	for p.at < len(p.text) {
		c := p.text[p.at]
		p.at++
		if c == '"' {
			return string(decoded), true
		}
		if c < ' ' {
			return "", false
		}
		if c != '\\' {
			decoded = append(decoded, c)
			continue
		}
		e := p.peek()
		p.at++
		simple := map[byte]byte{'"': '"', '\\': '\\', '/': '/', 'b': 8, 't': 9, 'n': 10, 'f': 12, 'r': 13}
		if d, ok := simple[e]; ok {
			decoded = append(decoded, d)
			continue
		}
		if e != 'u' {
			return "", false
		}
		r, ok := p.hex()
		if !ok || r >= 0xDC00 && r <= 0xDFFF {
			return "", false
		}
		if r >= 0xD800 && r <= 0xDBFF {
			if !p.take('\\') || !p.take('u') {
				return "", false
			}
			low, ok := p.hex()
			if !ok || low < 0xDC00 || low > 0xDFFF {
				return "", false
			}
			r = 0x10000 + (r-0xD800)*0x400 + low - 0xDC00
		}
		decoded = append(decoded, string(rune(r))...)
	}
	return "", false
}

func (p *plainReader) hex() (uint64, bool) {
	if len(p.text)-p.at < 4 {
		return 0, false
	}
	digits := string(p.text[p.at : p.at+4])
	p.at += 4
	r, err := strconv.ParseUint(digits, 16, 16)
	return r, err == nil
}

func (p *plainReader) run() int {
	start := p.at
	for p.peek() >= '0' && p.peek() <= '9' {
		p.at++
	}
	return p.at - start
}

func (p *plainReader) number(n *node) bool {
	start := p.at
	p.take('-')
	zero := p.peek() == '0'
	if whole := p.run(); whole == 0 || zero && whole > 1 {
		return false
	}
	n.kind = Int
	if p.take('.') {
		n.kind = Float
		if p.run() == 0 {
			return false
		}
	}
	if p.take('e') || p.take('E') {
		n.kind = Float
		if !p.take('+') {
			p.take('-')
		}
		if p.run() == 0 {
			return false
		}
	}
	literal := string(p.text[start:p.at])
	if n.kind == Int {
		n.integer, _ = new(big.Int).SetString(literal, 10)
		low := new(big.Int).Neg(new(big.Int).Lsh(big.NewInt(1), 63))
		high := new(big.Int).Lsh(big.NewInt(1), 64)
		if n.integer.Cmp(low) < 0 || n.integer.Cmp(high) >= 0 {
			n.kind = Float
		}
	}
	n.float = nearest(literal)
	if n.kind == Int && n.float == 0 {
		n.float = 0 // −0 is the integer 0
	}
	return !math.IsInf(n.float, 0)
}

// nearest is the double nearest to a valid literal, by way of numbers of great precision.
func nearest(literal string) float64 {
	f, _, err := big.ParseFloat(literal, 10, uint(4*len(literal)+4000), big.ToZero)
	if err != nil {
		// Only an exponent beyond what big.Float takes gets here.
		value, _ := strconv.ParseFloat(literal, 64)
		return value
	}
	value, _ := f.Float64()
	return value
}

// same holds a scanned value against a plain one, with everything in it.
func same(t *testing.T, v Value, n *node) {
	if v.Kind() != n.kind {
		t.Fatalf("byte %d: kind %v, want %v: %.60q", n.at, v.Kind(), n.kind, v.Raw())
	}
	if v.Offset() != n.at || v.Len() != n.end-n.at {
		t.Fatalf("byte %d: span %d+%d, want length %d", n.at, v.Offset(), v.Len(), n.end-n.at)
	}
	if v.Height() != n.height {
		t.Fatalf("byte %d: height %d, want %d", n.at, v.Height(), n.height)
	}
	truthy := true
	switch n.kind {
	case Null:
		truthy = false
	case Bool:
		truthy = n.truth
		if truth, ok := v.Truth(); truth != n.truth || !ok {
			t.Fatalf("byte %d: truth %v", n.at, truth)
		}
	case Int, Float:
		truthy = n.float != 0
		f, ok := v.Float()
		if !ok || f != n.float || math.Signbit(f) != math.Signbit(n.float) {
			t.Fatalf("byte %d: %s is %v, want %v", n.at, v.Raw(), f, n.float)
		}
		i, ok := v.Integer()
		if ok != (n.kind == Int) || ok && i.String() != n.integer.String() {
			t.Fatalf("byte %d: %s is %v %v", n.at, v.Raw(), i, ok)
		}
	case String:
		truthy = n.text != ""
		if v.Text() != n.text || string(v.AppendText([]byte("a"))) != "a"+n.text || !v.Is(n.text) || v.Is(n.text+"x") {
			t.Fatalf("byte %d: text %q, want %q", n.at, v.Text(), n.text)
		}
		if inner, escapes := v.Escaped(); string(inner) != string(v.Raw()[1:v.Len()-1]) || escapes != bytes.Contains(inner, []byte{'\\'}) {
			t.Fatalf("byte %d: content %q with escapes %v", n.at, inner, escapes)
		}
	case Array, Object:
		truthy = len(n.parts) > 0
	}
	if v.Truthy() != truthy {
		t.Fatalf("byte %d: truthy %v", n.at, v.Truthy())
	}
	sameParts(t, v, n)
}

func sameParts(t *testing.T, v Value, n *node) {
	var kinds Kinds
	for _, part := range n.parts {
		kinds |= 1 << part.kind
	}
	if count, have := v.Parts(); count != len(n.parts) || have != kinds {
		t.Fatalf("byte %d: %d parts of kinds %b, want %d of %b", n.at, count, have, len(n.parts), kinds)
	}
	elements, members := v.Elements(), v.Members()
	switch n.kind {
	case Array:
		for _, part := range n.parts {
			if !elements.Next() {
				t.Fatalf("byte %d: too few elements", n.at)
			}
			same(t, elements.Value, part)
		}
	case Object:
		last := map[string]*node{}
		for i, part := range n.parts {
			if !members.Next() || string(members.Key) != n.names[i] {
				t.Fatalf("byte %d: member %q, want %q", n.at, members.Key, n.names[i])
			}
			same(t, members.Value, part)
			last[n.names[i]] = part
		}
		if len(last) > 20 {
			return // Get is linear
		}
		for name, part := range last {
			if got := v.Get(name); got.Offset() != part.at {
				t.Fatalf("byte %d: Get(%q) is at %d, want %d", n.at, name, got.Offset(), part.at)
			}
		}
	}
	if elements.Next() || members.Next() {
		t.Fatalf("byte %d: too many parts", n.at)
	}
	if v.Get("no such member").Exists() != (n.kind == Object && contains(n.names, "no such member")) {
		t.Fatalf("byte %d: a member that is not there", n.at)
	}
}

func contains(names []string, name string) bool {
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}

// agree scans text both ways and holds the results against each other.
func agree(t *testing.T, s *Scanner, text []byte) {
	t.Helper()
	v, err := s.Scan(text)
	n, ok := readPlain(text)
	if (err == nil) != ok {
		t.Fatalf("scanner says %v, plain reader %v: %.200q", err, ok, text)
	}
	if err == nil {
		same(t, v, n)
		tapeHolds(t, s)
		return
	}
	e := err.(*Error)
	if e.Offset < 0 || e.Offset > len(text) || e.Reason == "" || (e.Count > 0) != (e.Reason == ReasonZeros) {
		t.Fatalf("error %+v of %.200q", e, text)
	}
	// What stands in front of the offset is the beginning of some text that would be accepted, so that
	// cutting there moves the error to the end.
	if e.Reason != ReasonOverflow && e.Offset < len(text) {
		_, err := s.Scan(text[:e.Offset])
		if cut, ok := err.(*Error); ok && (cut.Offset != e.Offset || cut.Reason != ReasonCut && cut.Reason != ReasonEmpty) {
			t.Fatalf("refused at %d for %q, but its beginning at %d for %q: %.200q", e.Offset, e.Reason, cut.Offset, cut.Reason, text)
		}
	}
}

// tapeHolds checks the promises about the size and order of the tape.
func tapeHolds(t *testing.T, s *Scanner) {
	marks := s.doc.marks
	if len(marks) > most(len(s.doc.text)) {
		t.Fatalf("%d marks for %d bytes", len(marks), len(s.doc.text))
	}
	for i, m := range marks {
		if i > 0 && m.at <= marks[i-1].at || m.end <= m.at || int(m.next) <= i || int(m.next) > len(marks) || m.end-m.at < tapedContainer {
			t.Fatalf("mark %d: %+v", i, m)
		}
	}
}
