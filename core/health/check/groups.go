package check

import (
	"encoding/binary"
	"errors"
	"strconv"

	"github.com/rollscope/rollscope/core/integer"
)

// ErrStored means that stored findings are damaged or of another version.
var ErrStored = errors.New("stored findings are damaged")

// Groups walks stored findings, one group per check and set of profiles. Call Next, then read the fields
// and, if wanted, Findings. Whatever the bytes are, the walk ends; Err tells whether they were sound.
type Groups struct {
	Check int // position in the registry
	Count int
	Among int

	profiles byte
	in       input
	left     int // findings of the group that were not read
}

// NewGroups begins a walk over what [Judgement.Findings] gave.
func NewGroups(stored []byte) Groups { return Groups{in: input{b: stored}} }

// In tells whether the group belongs to a profile.
func (g *Groups) In(p Profile) bool { return g.profiles>>p&1 != 0 }

// Err is nil or [ErrStored].
func (g *Groups) Err() error {
	if g.in.bad {
		return ErrStored
	}
	return nil
}

// Next moves to the next group. Findings of the last one that were not asked for are checked and skipped.
func (g *Groups) Next() bool {
	var scratch Finding
	for ; g.left > 0 && !g.in.bad; g.left-- {
		g.finding(&scratch, false)
	}
	if g.in.bad || len(g.in.b) == 0 {
		return false
	}
	position := int(g.in.byte())
	g.profiles = g.in.byte()
	count, among := g.in.size(), g.in.uvarint()
	if position < g.Check || position >= RolloutCount || g.profiles == 0 || g.profiles>>Profiles != 0 || count == 0 || among > 1<<40 {
		g.in.bad = true
	}
	g.Check, g.Count, g.Among, g.left = position, count, int(among), count
	return !g.in.bad
}

// Findings appends the findings of the group, given what came of its check. It may be called once per
// group.
func (g *Groups) Findings(dst []Finding, outcome Outcome) []Finding {
	for ; g.left > 0; g.left-- {
		f := Finding{Check: registry[g.Check].ID, Fired: g.Count, Among: g.Among}
		g.finding(&f, true)
		if g.in.bad {
			return dst
		}
		if raised := outcome.Raised(); raised != Finished {
			f = stopped(registry[g.Check], raised, f.Place)
		}
		dst = append(dst, f)
	}
	return dst
}

// finding reads one finding; its texts are only copied if wanted.
func (g *Groups) finding(f *Finding, wanted bool) {
	in := &g.in
	kind := spotKind(in.byte())
	offset, length, turn, call := in.uvarint(), in.uvarint(), in.uvarint(), in.uvarint()
	const most = 1 << 40
	if kind >= spotKinds || offset > most || length > most || turn > most || call > most {
		in.bad = true
		return
	}
	f.Place = Place{Offset: int64(offset), Length: int64(length), Turn: int(turn) - 1, Call: int(call) - 1}
	g.pointer(f, kind, wanted)
	for !in.bad {
		name := field(in.byte())
		if name == fieldEnd {
			return
		}
		if name >= fieldNames {
			in.bad = true
			return
		}
		v := in.value(wanted)
		if !wanted || in.bad {
			continue
		}
		into := &f.Detail
		switch fields[name].part {
		case locator:
			into = &f.Locator
		case aside:
			into = &f.Aside
		}
		*into = append(*into, Field{fields[name].name, v})
	}
}

func (g *Groups) pointer(f *Finding, kind spotKind, wanted bool) {
	in := &g.in
	var a, b uint64
	var path []byte
	switch kind {
	case spotPath:
		path = in.bytes()
	case spotTurnRef, spotInvocationRef:
		a, b = in.uvarint(), in.uvarint()
	case spotGap:
		a = in.uvarint()
	}
	if !wanted || in.bad {
		return
	}
	const at = "/ng_trajectory/"
	switch kind {
	case spotPath:
		f.Place.Pointer = string(path)
	case spotTurns:
		f.Place.Pointer = at + "turns"
	case spotTurn:
		f.Place.Pointer = at + "turns/" + strconv.Itoa(f.Place.Turn)
	case spotCall:
		f.Place.Pointer = at + "model_calls/" + strconv.Itoa(f.Place.Call)
	case spotTurnRef:
		f.Place.Pointer = at + "turns/" + decimal(a) + "/model_calls/" + decimal(b)
	case spotInvocationRef:
		f.Place.Pointer = at + "invocations/" + decimal(a) + "/model_calls/" + decimal(b)
	case spotGap:
		f.Place.Pointer = at + "gaps/" + decimal(a)
	case spotUsage:
		f.Place.Pointer = "/response/usage"
	}
}

func decimal(n uint64) string { return strconv.FormatUint(n, 10) }

// input reads stored bytes. The first thing that cannot be read makes it bad, and then everything is zero.
type input struct {
	b   []byte
	bad bool
}

func (in *input) byte() byte {
	if len(in.b) == 0 {
		in.bad = true
		return 0
	}
	c := in.b[0]
	in.b = in.b[1:]
	return c
}

func (in *input) uvarint() uint64 {
	n, size := binary.Uvarint(in.b)
	if size <= 0 {
		in.bad, in.b = true, nil
		return 0
	}
	in.b = in.b[size:]
	return n
}

// size reads a count of things that take at least a byte each.
func (in *input) size() int {
	n := in.uvarint()
	if n > uint64(len(in.b)) {
		in.bad, in.b = true, nil
		return 0
	}
	return int(n)
}

func (in *input) bytes() []byte {
	n := in.size()
	b := in.b[:n]
	in.b = in.b[n:]
	return b
}

func (in *input) phrase() string {
	p := in.byte()
	if p >= byte(phraseCount) {
		in.bad = true
		return ""
	}
	return phrases[p]
}

func (in *input) value(wanted bool) Value {
	switch kind := in.byte(); kind {
	case storedNull:
		return Value{}
	case storedFalse, storedTrue:
		return Value{Kind: Bool, True: kind == storedTrue}
	case storedInt, storedBig:
		return Value{Kind: Int, Int: in.integer(kind)}
	case storedText:
		text := in.bytes()
		if !wanted {
			return Value{Kind: Text}
		}
		return Value{Kind: Text, Text: string(text)}
	case storedPhrase:
		return Value{Kind: Text, Text: in.phrase()}
	case storedList:
		v := Value{Kind: List}
		for range in.size() {
			if s := in.phrase(); wanted {
				v.List = append(v.List, s)
			}
		}
		return v
	}
	in.bad = true
	return Value{}
}

func (in *input) integer(kind byte) integer.Int {
	if kind == storedInt {
		n, size := binary.Varint(in.b)
		if size <= 0 {
			in.bad, in.b = true, nil
			return integer.Int{}
		}
		in.b = in.b[size:]
		return integer.Of(n)
	}
	n, ok := integer.Parse(string(in.bytes()))
	if !ok {
		in.bad = true
	}
	return n
}

// AppendInt stores a whole number of any size; [CutInt] reads it.
func AppendInt(dst []byte, n integer.Int) []byte { return appendInt(dst, n) }

// CutInt reads what AppendInt stored and returns the rest; ok is false for damaged bytes.
func CutInt(b []byte) (n integer.Int, rest []byte, ok bool) {
	in := input{b: b}
	kind := in.byte()
	if kind != storedInt && kind != storedBig {
		return n, nil, false
	}
	n = in.integer(kind)
	return n, in.b, !in.bad
}
