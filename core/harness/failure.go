package harness

import (
	"cmp"
	"math/bits"
	"slices"
	"strconv"

	"github.com/rollscope/rollscope/core/health/check"
	"github.com/rollscope/rollscope/core/jsonscan"
)

// A Failure is a check that was evaluated on a record and failed, with every place that shows it.
type Failure struct {
	Check  *Check
	Places []Place // never empty; the designated place if nothing more exact is known
}

// A Place is where in a row a check failed. Offset counts from the first byte of the line; Length is 0 if what should be
// there is missing, and Offset is then where the nearest value around it begins.
//
// Pointer and Location go no deeper than the names that checks know, since names below are the user's. Offset and Length
// may be more exact.
type Place struct {
	check.Place
	Location string // as reports write places
}

// sortFaults brings the faults into the order of the checks.
func (j *Judge) sortFaults() {
	slices.SortStableFunc(j.faulty, func(a, b fault) int { return cmp.Compare(a.check, b.check) })
}

// failures lists what failed on the row that was judged last, whose text begins at an offset of its line.
func (j *Judge) failures(offset int64, s Scope) []Failure {
	j.sortFaults()
	d := digest{flags: j.flags(), failed: j.failed}
	applies, passes := d.standing(s)
	list := []Failure{}
	faults := j.faulty
	for rest := d.failing(s, applies, passes); rest != 0; rest &= rest - 1 {
		position := bits.TrailingZeros64(uint64(rest))
		for len(faults) > 0 && int(faults[0].check) < position {
			faults = faults[1:]
		}
		f := Failure{Check: &registry[position]}
		for len(faults) > 0 && int(faults[0].check) == position {
			f.Places = append(f.Places, j.placeOf(j.steps[faults[0].from:faults[0].to], faults[0].at, offset))
			faults = faults[1:]
		}
		if len(f.Places) == 0 {
			p := f.Check.place
			f.Places = []Place{j.placeOf(placeSteps[p], j.values[p], offset)}
		}
		list = append(list, f)
	}
	return list
}

func (j *Judge) placeOf(path []step, at jsonscan.Value, offset int64) Place {
	p := Place{Place: check.Place{Turn: -1, Call: -1}, Location: string(appendPath([]byte("$"), path))}
	if at.Exists() {
		p.Offset, p.Length = offset+int64(at.Offset()), int64(at.Len())
	} else {
		p.Offset = offset + int64(j.nearest(path).Offset())
	}
	var pointer []byte
	for _, s := range path {
		pointer = append(pointer, '/')
		if s < 0 {
			pointer = append(pointer, keyNames[-1-s]...)
		} else {
			pointer = strconv.AppendInt(pointer, int64(s), 10)
		}
	}
	p.Pointer = string(pointer)
	if len(path) > 2 && path[2] >= 0 {
		switch path[1] {
		case byKey(keyTurns):
			p.Turn = int(path[2])
		case byKey(keyModelCalls):
			p.Call = int(path[2])
		}
	}
	return p
}

// nearest follows a path as far as there are values.
func (j *Judge) nearest(path []step) jsonscan.Value {
	v := j.row
	for _, s := range path {
		next := jsonscan.Value{}
		if s < 0 {
			next = j.objects.get(v, key(-1-s))
		} else {
			e := v.Elements()
			for i := step(0); i <= s && e.Next(); i++ {
				if i == s {
					next = e.Value
				}
			}
		}
		if !next.Exists() {
			break
		}
		v = next
	}
	return v
}
