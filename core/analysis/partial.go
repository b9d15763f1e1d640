package analysis

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/rollscope/rollscope/core/packed"
)

// A Partial is the result of a range of one source. Rows are numbered from 0 and lines from 0 within it.
type Partial struct {
	Source   int   // position in the list of sources
	From, To int64 // the lines whose first byte lies in [From, To)
	End      bool  // To is the end of the source, which has the size To
	Account  Account
	Sections Sections // that the digests have

	// Of a packed source: the members met on the way, and where it cannot be read further.
	Members []packed.Member
	Damage  *packed.Damage

	// Query is the question of a second scan, 0 for the first one. A second scan keeps the answer for every row and
	// nothing else.
	Query uint64

	lines   []uint32 // of each row: its physical line, counted from 0 within the partial
	lengths []uint32 // bytes without the line end
	offsets []int64  // of the first byte in the source
	ends    []uint32 // where its digest ends in digests
	digests []byte
	blanks  []blank // of a second scan, in order
	tail    *tail   // its last line, where that has no line end; nil where it has one
}

// blank is the answer to a question about a blank line.
type blank struct {
	before uint32 // rows of the partial in front of it
	text   []byte
}

// Rows is the number of non-blank lines.
func (p *Partial) Rows() int { return len(p.ends) }

// Memory is the number of bytes the partial holds.
func (p *Partial) Memory() int64 { return int64(len(p.lines))*20 + int64(cap(p.digests)) }

func (p *Partial) digest(i int) []byte {
	from := uint32(0)
	if i > 0 {
		from = p.ends[i-1]
	}
	return p.digests[from:p.ends[i]]
}

// maxDigests bounds the digests of one partial, whose ends are 32-bit numbers.
const maxDigests = math.MaxUint32

func (p *Partial) add(line uint32, offset, length int64, digests []byte) {
	p.lines = append(p.lines, line)
	p.offsets = append(p.offsets, offset)
	p.lengths = append(p.lengths, uint32(min(length, math.MaxUint32)))
	p.answer(digests)
}

// answer adds a row of a second scan.
func (p *Partial) answer(digests []byte) {
	p.digests = digests
	p.ends = append(p.ends, uint32(len(digests)))
}

// Merge joins two partials of one source where b begins at the end of a. It is associative. Neither
// operand may be used afterwards.
func Merge(a, b *Partial) (*Partial, error) {
	if a.Source != b.Source || a.To != b.From || a.End || a.Query != b.Query || a.Sections != b.Sections {
		return nil, fmt.Errorf("partials do not meet: source %d [%d, %d) and source %d [%d, %d)", a.Source, a.From, a.To, b.Source, b.From, b.To)
	}
	if len(a.digests)+len(b.digests) > maxDigests || a.Account.Lines+b.Account.Lines > math.MaxUint32 {
		return nil, errors.New("the joined partial would be too large")
	}
	lines, rows, digests := uint32(a.Account.Lines), uint32(a.Rows()), uint32(len(a.digests))
	for _, line := range b.lines {
		a.lines = append(a.lines, line+lines)
	}
	for _, end := range b.ends {
		a.ends = append(a.ends, end+digests)
	}
	for _, k := range b.blanks {
		a.blanks = append(a.blanks, blank{k.before + rows, k.text})
	}
	a.offsets = append(a.offsets, b.offsets...)
	a.lengths = append(a.lengths, b.lengths...)
	a.digests = append(a.digests, b.digests...)
	a.Account = a.Account.Add(b.Account)
	a.To, a.End = b.To, b.End
	a.Members, a.Damage = append(a.Members, b.Members...), b.Damage
	if b.tail != nil {
		a.tail = b.tail
	}
	return a, nil
}

// The binary form begins with these bytes; the last is the version.
const magic = "rsp\x04"

// The flags of the binary form.
const (
	flagEnd = 1 << iota
	flagMembers
	flagDamage
	flagQuery
	flagBlanks
	flagTail
)

var errPartial = errors.New("damaged or foreign partial")

// AppendBinary stores the partial.
func (p *Partial) AppendBinary(dst []byte) []byte {
	dst = append(dst, magic...)
	flags := uint64(0)
	for i, on := range [...]bool{p.End, len(p.Members) > 0, p.Damage != nil, p.Query != 0, len(p.blanks) > 0, p.tail != nil} {
		if on {
			flags |= 1 << i
		}
	}
	for _, n := range [...]uint64{uint64(p.Source), uint64(p.From), uint64(p.To), uint64(p.Sections), flags} {
		dst = binary.AppendUvarint(dst, n)
	}
	dst = p.Account.append(dst)
	if flags&flagMembers != 0 {
		dst = binary.AppendUvarint(dst, uint64(len(p.Members)))
		for _, m := range p.Members {
			dst = binary.AppendUvarint(binary.AppendUvarint(dst, uint64(m.Packed)), uint64(m.Plain))
		}
	}
	if d := p.Damage; d != nil {
		dst = binary.AppendUvarint(binary.AppendUvarint(dst, uint64(d.Packed)), uint64(d.Plain))
		dst = append(binary.AppendUvarint(dst, uint64(len(d.Reason))), d.Reason...)
	}
	if p.Query != 0 {
		dst = binary.AppendUvarint(dst, p.Query)
	}
	if len(p.blanks) > 0 {
		dst = binary.AppendUvarint(dst, uint64(len(p.blanks)))
		for _, k := range p.blanks {
			dst = binary.AppendUvarint(binary.AppendUvarint(dst, uint64(k.before)), uint64(len(k.text)))
			dst = append(dst, k.text...)
		}
	}
	if p.tail != nil {
		dst = p.tail.append(dst)
	}
	dst = binary.AppendUvarint(dst, uint64(len(p.ends)))
	dst = binary.AppendUvarint(dst, uint64(len(p.digests)))
	var line, digest uint32
	var offset int64
	for i := range p.ends {
		if p.Query != 0 {
			dst = binary.AppendUvarint(dst, uint64(p.ends[i]-digest))
			digest = p.ends[i]
			continue
		}
		dst = binary.AppendUvarint(dst, uint64(p.lines[i]-line))
		dst = binary.AppendUvarint(dst, uint64(p.offsets[i]-offset))
		dst = binary.AppendUvarint(dst, uint64(p.lengths[i]))
		dst = binary.AppendUvarint(dst, uint64(p.ends[i]-digest))
		line, offset, digest = p.lines[i], p.offsets[i], p.ends[i]
	}
	return append(dst, p.digests...)
}

// ParsePartial reads what AppendBinary stored. The partial keeps b.
func ParsePartial(b []byte) (*Partial, error) {
	if len(b) < len(magic) || string(b[:len(magic)]) != magic {
		return nil, errPartial
	}
	b = b[len(magic):]
	broken := false
	next := func() uint64 {
		n, size := binary.Uvarint(b)
		if size <= 0 {
			broken = true
			return 0
		}
		b = b[size:]
		return n
	}
	p := &Partial{Source: int(next()), From: int64(next()), To: int64(next())}
	wanted, flags := next(), next()
	if wanted > uint64(All) {
		return nil, errPartial
	}
	p.Sections = Sections(wanted)
	p.End = flags&flagEnd != 0
	for _, n := range p.Account.fields() {
		*n = int64(next())
	}
	if flags&flagMembers != 0 {
		n := next()
		if broken || n > uint64(len(b)) {
			return nil, errPartial
		}
		p.Members = make([]packed.Member, n)
		for i := range p.Members {
			p.Members[i] = packed.Member{Packed: int64(next()), Plain: int64(next())}
		}
	}
	if flags&flagDamage != 0 {
		p.Damage = &packed.Damage{Packed: int64(next()), Plain: int64(next())}
		n := next()
		if broken || n > uint64(len(b)) {
			return nil, errPartial
		}
		p.Damage.Reason, b = string(b[:n]), b[n:]
	}
	least := uint64(4) // bytes of a row
	if flags&flagQuery != 0 {
		p.Query, least = next(), 1
		if p.Query == 0 {
			return nil, errPartial
		}
	}
	if flags&flagBlanks != 0 {
		n := next()
		if broken || n > uint64(len(b))/2 || p.Query == 0 {
			return nil, errPartial
		}
		p.blanks = make([]blank, n)
		for i := range p.blanks {
			before, size := next(), next()
			if broken || size > uint64(len(b)) || before > math.MaxUint32 || i > 0 && uint32(before) < p.blanks[i-1].before {
				return nil, errPartial
			}
			p.blanks[i], b = blank{uint32(before), b[:size:size]}, b[size:]
		}
	}
	if flags&flagTail != 0 {
		p.tail = &tail{offset: int64(next())}
		for _, n := range p.tail.account.fields() {
			*n = int64(next())
		}
		p.tail.blanks = int(next())
		if broken || !p.tail.fits(p) {
			return nil, errPartial
		}
	}
	rows, size := next(), next()
	if broken || rows > uint64(len(b))/least || size > uint64(len(b)) || p.Source < 0 || p.From < 0 || p.To < p.From ||
		rows != uint64(p.Account.Rows()) {
		return nil, errPartial
	}
	p.ends = make([]uint32, rows)
	if p.Query == 0 {
		p.lines = make([]uint32, rows)
		p.offsets = make([]int64, rows)
		p.lengths = make([]uint32, rows)
	}
	var line, digest uint64
	var offset int64
	for i := range p.ends {
		if p.Query != 0 {
			if digest += next(); digest > size {
				return nil, errPartial
			}
			p.ends[i] = uint32(digest)
			continue
		}
		line += next()
		offset += int64(next())
		length := next()
		digest += next()
		if line >= uint64(p.Account.Lines) || line > math.MaxUint32 || length > math.MaxUint32 || offset < 0 || digest > size {
			return nil, errPartial
		}
		p.lines[i], p.offsets[i], p.lengths[i], p.ends[i] = uint32(line), offset, uint32(length), uint32(digest)
	}
	if broken || uint64(len(b)) != size || digest != size {
		return nil, errPartial
	}
	p.digests = b
	return p, nil
}
