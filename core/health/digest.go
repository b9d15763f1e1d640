package health

import (
	"encoding/binary"
	"errors"

	"github.com/rollscope/rollscope/core/health/check"
	"github.com/rollscope/rollscope/core/integer"
)

// ErrDigest means that a digest is damaged or of another version.
var ErrDigest = errors.New("health digest is damaged or of another version")

// digest is an opened digest. It keeps the bytes.
type digest struct {
	flags             byte
	outcomes          [check.Profiles][check.RolloutCount]check.Outcome
	prompt            uint64
	completion        uint64
	calls             int64
	capturePrompt     integer.Int
	captureCompletion integer.Int
	successful        int64
	replayed          int64
	failed            int64
	statuses          []byte // pairs of count and status
	findings          []byte
}

func (d *digest) has(flag byte) bool { return d.flags&flag != 0 }

// most bounds counts, so that sums of them cannot overflow.
const most = 1 << 40

// open reads a digest up to its findings, which are left as they are.
func (d *digest) open(b []byte) error {
	*d = digest{}
	if len(b) < 2 || b[0] != digestVersion || b[1]&^knownFlags != 0 {
		return ErrDigest
	}
	d.flags = b[1]
	in := reader{b: b[2:]}
	in.outcomes(&d.outcomes[check.V07])
	d.outcomes[check.Main] = d.outcomes[check.V07]
	if d.has(hasMain) {
		in.outcomes(&d.outcomes[check.Main])
	}
	if d.has(hasPrompt) {
		d.prompt = in.uvarint()
	}
	if d.has(hasCompletion) {
		d.completion = in.uvarint()
	}
	if d.has(hasCalls) {
		d.calls = in.count()
		d.capturePrompt = in.integer()
		d.captureCompletion = in.integer()
		d.successful = in.count()
		d.replayed = in.count()
		kinds := in.count()
		before := in.b
		for ; kinds > 0 && !in.bad; kinds-- {
			n, _, _ := in.status()
			d.failed += n
		}
		d.statuses = before[:len(before)-len(in.b)]
		if d.calls == 0 || d.failed > d.calls || d.successful > d.calls || d.replayed >= d.calls {
			in.bad = true
		}
	}
	if in.bad {
		return ErrDigest
	}
	d.findings = in.b
	return nil
}

// reader reads the parts of a digest. The first that cannot be read makes it bad.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) fail() {
	r.bad = true
	r.b = r.b[len(r.b):]
}

func (r *reader) uvarint() uint64 {
	n, size := binary.Uvarint(r.b)
	if size <= 0 {
		r.fail()
		return 0
	}
	r.b = r.b[size:]
	return n
}

func (r *reader) count() int64 {
	n := r.uvarint()
	if n > most {
		r.fail()
		return 0
	}
	return int64(n)
}

func (r *reader) integer() integer.Int {
	n, rest, ok := check.CutInt(r.b)
	if !ok {
		r.fail()
		return integer.Int{}
	}
	r.b = rest
	return n
}

// status reads how many calls failed with a status, and the status; known is false where it is null.
func (r *reader) status() (n int64, status integer.Int, known bool) {
	n = r.count()
	if len(r.b) == 0 || r.b[0] > 1 {
		r.fail()
		return 0, status, false
	}
	known = r.b[0] == 1
	r.b = r.b[1:]
	if known {
		status = r.integer()
	}
	return n, status, known
}

func (r *reader) outcomes(into *[check.RolloutCount]check.Outcome) {
	for i := 0; i < len(into); {
		if len(r.b) == 0 {
			r.bad = true
			return
		}
		outcome, run := check.Outcome(r.b[0]&31), int(r.b[0]>>5)+1
		r.b = r.b[1:]
		if !outcome.Valid() || i+run > len(into) {
			r.fail()
			return
		}
		for range run {
			into[i] = outcome
			i++
		}
	}
}

// rowFindings counts the findings of each check for one profile and checks that they agree with the
// outcomes.
func (d *digest) rowFindings(p check.Profile, counts *[check.RolloutCount]int) error {
	*counts = [check.RolloutCount]int{}
	if len(d.findings) > 0 {
		g := check.NewGroups(d.findings)
		for g.Next() {
			for q := range check.Profiles {
				if !g.In(q) {
					continue
				}
				outcome := d.outcomes[q][g.Check]
				stopped := outcome.Raised() != check.Finished
				if outcome != check.Fired && !stopped || stopped && g.Count != 1 {
					return ErrDigest
				}
				if q == p {
					if counts[g.Check] != 0 {
						return ErrDigest
					}
					counts[g.Check] = g.Count
				}
			}
		}
		if g.Err() != nil {
			return ErrDigest
		}
	}
	for i, o := range d.outcomes[p] {
		if (o == check.Fired || o.Raised() != check.Finished) && counts[i] == 0 {
			return ErrDigest
		}
	}
	return nil
}
