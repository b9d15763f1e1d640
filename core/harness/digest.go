package harness

import (
	"encoding/binary"
	"errors"
	"math/bits"
)

// ErrDigest means that a digest is damaged or of another version.
var ErrDigest = errors.New("harness digest is damaged or of another version")

// The digest of a record is, one behind the other:
//
//	version   one byte
//	flags     one byte
//	calls     how many there are; where availability is uneven, how many have each token count
//	failed    how many checks were evaluated and failed, and for each: its position, how many places it names, and
//	          the paths of these places: all of a check with a shape, the first one of a check with a rule
//
// A path is stored as the number of steps that it shares with the path before it, the number of further steps, and
// these; behind it stands the number of the sandbox where locations count sandboxes alone.
//
// What the checks found does not depend on the scope, so that it is no part of a digest.
const digestVersion = 1

const (
	rowFailed = 1 << iota // says of itself that it is no measurement
	rowSandbox
	rowUneven
	knownFlags = 1<<iota - 1
)

// flags tells what applicability depends on.
func (j *Judge) flags() byte {
	flags := byte(0)
	if j.isFailed() {
		flags |= rowFailed
	}
	if len(j.sandboxes) > 0 {
		flags |= rowSandbox
	}
	return flags
}

// append appends the digest of the row that was judged last.
func (j *Judge) append(dst []byte) []byte {
	flags := j.flags()
	for _, n := range j.tokens {
		if n != len(j.calls) {
			flags |= rowUneven
		}
	}
	dst = append(dst, digestVersion, flags)
	dst = binary.AppendUvarint(dst, uint64(len(j.calls)))
	if flags&rowUneven != 0 {
		for _, n := range j.tokens {
			dst = binary.AppendUvarint(dst, uint64(n))
		}
	}
	j.sortFaults()
	dst = binary.AppendUvarint(dst, uint64(j.failed.Len()))
	faults := j.faulty
	for rest := j.failed; rest != 0; rest &= rest - 1 {
		position := uint8(bits.TrailingZeros64(uint64(rest)))
		n := 0
		for n < len(faults) && faults[n].check == position {
			n++
		}
		dst = append(dst, position)
		dst = binary.AppendUvarint(dst, uint64(n))
		dst = j.appendPaths(dst, &registry[position], faults[:n])
		faults = faults[n:]
	}
	return dst
}

func (j *Judge) appendPaths(dst []byte, c *Check, faults []fault) []byte {
	if c.shape == nil && len(faults) > 1 {
		faults = faults[:1]
	}
	before := placeSteps[c.place]
	for i := range faults {
		path := j.steps[faults[i].from:faults[i].to]
		same := 0
		for same < len(path) && same < len(before) && path[same] == before[same] {
			same++
		}
		dst = binary.AppendUvarint(dst, uint64(same))
		dst = binary.AppendUvarint(dst, uint64(len(path)-same))
		for _, s := range path[same:] {
			dst = binary.AppendVarint(dst, int64(s))
		}
		if c.place == inSandboxes {
			dst = binary.AppendUvarint(dst, uint64(faults[i].number))
		}
		before = path
	}
	return dst
}

// digest is an opened digest.
type digest struct {
	flags  byte
	calls  int64
	tokens [len(tokenKeys)]int64
	failed Checks
	faults []byte
}

// most bounds numbers, so that sums of them cannot overflow.
const most = 1 << 40

// reader reads the parts of a digest. The first that cannot be read makes it bad.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) fail() { r.b, r.bad = nil, true }

func (r *reader) count() int64 {
	n, size := binary.Uvarint(r.b)
	if size <= 0 || n > most {
		r.fail()
		return 0
	}
	r.b = r.b[size:]
	return int64(n)
}

func (r *reader) byte() byte {
	if len(r.b) == 0 {
		r.fail()
		return 0
	}
	c := r.b[0]
	r.b = r.b[1:]
	return c
}

func (r *reader) bytes() []byte {
	n := r.count()
	if n > int64(len(r.b)) {
		r.fail()
		return nil
	}
	b := r.b[:n:n]
	r.b = r.b[n:]
	return b
}

func (r *reader) step() step {
	n, size := binary.Varint(r.b)
	if size <= 0 || n <= -1-int64(keyCount) || n == -1-int64(keyNone) || n > 1<<31-1 {
		r.fail()
		return 0
	}
	r.b = r.b[size:]
	return step(n)
}

// open reads a whole digest and holds it to its form.
func (d *digest) open(b []byte) error {
	*d = digest{}
	if len(b) < 2 || b[0] != digestVersion || b[1]&^knownFlags != 0 {
		return ErrDigest
	}
	d.flags = b[1]
	in := reader{b: b[2:]}
	d.calls = in.count()
	for i := range d.tokens {
		d.tokens[i] = d.calls
		if d.flags&rowUneven != 0 {
			d.tokens[i] = in.count()
			in.bad = in.bad || d.tokens[i] > d.calls
		}
	}
	n := in.count()
	d.faults = in.b
	before := -1
	for ; n > 0 && !in.bad; n-- {
		p := int(in.byte())
		if p >= Count || p <= before {
			return ErrDigest
		}
		before, d.failed = p, d.failed.with(p)
		in.paths(&registry[p], nil)
	}
	if in.bad || len(in.b) > 0 {
		return ErrDigest
	}
	return nil
}

// paths reads the paths of a check that failed and tells how many places it named. A path is valid until each returns;
// number is that of the sandbox, −1 if the check does not count sandboxes.
func (r *reader) paths(c *Check, each func(path []step, number int32)) (named int64) {
	named = r.count()
	stored := named
	if c.shape == nil {
		stored = min(stored, 1)
	}
	path := placeSteps[c.place]
	least := int64(0)
	if c.shape != nil {
		least = int64(len(path)) // locations begin there
	}
	for ; stored > 0 && !r.bad; stored-- {
		same, more, number := r.count(), r.count(), int32(-1)
		if same > int64(len(path)) || more > int64(len(r.b)) || same < least {
			r.fail()
			break
		}
		path = path[:same:same] // the steps of the place are shared
		for ; more > 0 && !r.bad; more-- {
			path = append(path, r.step())
		}
		if c.place == inSandboxes {
			n := r.count()
			if n > 1<<31-1 || len(path) == len(placeSteps[c.place]) {
				r.fail()
				break
			}
			number = int32(n)
		}
		if each != nil && !r.bad {
			each(path, number)
		}
	}
	return named
}

// find reads the paths of one check; there are none if it did not fail.
func (d *digest) find(position int, each func(path []step, number int32)) (named int64) {
	in := reader{b: d.faults}
	for rest := d.failed; rest != 0 && !in.bad; rest &= rest - 1 {
		p := int(in.byte())
		if p == position {
			return in.paths(&registry[p], each)
		}
		in.paths(&registry[p], nil)
	}
	return 0
}

// locations lists where a check with a shape failed, behind its base location and without repetition (§3.1).
func (d *digest) locations(position int) []string {
	c := &registry[position]
	list := []string{c.Location}
	if c.shape == nil || !d.failed.Has(position) {
		return list
	}
	seen := map[string]bool{c.Location: true}
	text := []byte(c.Location)
	d.find(position, func(path []step, number int32) {
		below := path[len(placeSteps[c.place]):]
		text = text[:len(c.Location)]
		if number >= 0 {
			text = appendStep(text, step(number))
			below = below[1:]
		}
		text = appendPath(text, below)
		if !seen[string(text)] {
			seen[string(text)] = true
			list = append(list, string(text))
		}
	})
	return list
}

// first is the exact location of the first place that a check named, its designated one if it named none; named is
// how many there were.
func (d *digest) first(position int) (location string, named int64) {
	location = registry[position].Location
	done := false
	named = d.find(position, func(path []step, _ int32) {
		if !done {
			done = true
			location = string(appendPath([]byte("$"), path))
		}
	})
	return location, named
}

// standing tells which checks apply to a record in a scope, and which of them pass; the others fail.
func (d *digest) standing(s Scope) (applies, passes Checks) {
	applies = applying[Always]
	if !s.NoSteps {
		applies |= applying[WithSteps]
	}
	if !s.NoTools {
		applies |= applying[WithTools]
	}
	if !s.NoVerifier {
		applies |= applying[WithVerifier]
		if d.flags&rowFailed != 0 {
			applies |= applying[WhenFailed]
		}
	}
	if s.RequireSandbox {
		applies |= applying[WhenSandboxRequired] | applying[WithSandbox]
	} else if d.flags&rowSandbox != 0 {
		applies |= applying[WithSandbox]
	}
	for rest := applies &^ d.failed; rest != 0; rest &= rest - 1 {
		i := bits.TrailingZeros64(uint64(rest))
		if needsOf(i, s)&^passes == 0 {
			passes = passes.with(i)
		}
	}
	return applies, passes
}

// failing tells which checks that apply were evaluated and fail by themselves.
func (d *digest) failing(s Scope, applies, passes Checks) Checks {
	list := Checks(0)
	for rest := applies & d.failed; rest != 0; rest &= rest - 1 {
		if i := bits.TrailingZeros64(uint64(rest)); needsOf(i, s)&^passes == 0 {
			list = list.with(i)
		}
	}
	return list
}

// needsOf are the prerequisites of a check in a scope.
func needsOf(position int, s Scope) Checks {
	c := &registry[position]
	if c.Applies == WithSandbox && s.RequireSandbox {
		return c.needs | applying[WhenSandboxRequired]
	}
	return c.needs
}
