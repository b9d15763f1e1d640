package engine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/rollscope/rollscope/core/analysis"
	"github.com/rollscope/rollscope/core/pack"
	"github.com/rollscope/rollscope/core/search"
	"github.com/rollscope/rollscope/core/source"
	"github.com/rollscope/rollscope/core/synth"
	"github.com/rollscope/rollscope/core/view"
)

// An Engine is the state of one module instance. The zero Engine is ready.
type Engine struct {
	scan    *analysis.Scan
	desk    desk
	sliced  *slice
	slicing bool // what is fed is for the slice
	blocks  pack.Opener
	packer  *packer // of a bundle that is being made, nil for none
}

var errNoScan = errors.New("no scan is running")

// Feed takes the next bytes of what was begun last, a scan or a slice, and tells whether it needs no more.
func (e *Engine) Feed(b []byte) (done bool, err error) {
	if e.slicing {
		return e.feedSlice(b), nil
	}
	if e.packer != nil && e.packer.begun >= 0 {
		return e.packer.feed(b)
	}
	if e.scan == nil {
		return false, errNoScan
	}
	return e.scan.Feed(b), nil
}

// Call runs one operation. The answer is valid until the next call. needs tells that it asks for bytes of a
// file, which OpBytes supplies, before the operation is run again.
func (e *Engine) Call(op int, request []byte) (answer []byte, needs bool, err error) {
	switch op {
	case OpScan:
		answer, err = e.begin(request)
	case OpTake, OpFinish:
		answer, err = e.take(op == OpFinish)
	case OpAdd:
		// The partial keeps its bytes, the host's buffer does not.
		answer, err = e.desk.add(bytes.Clone(request))
	case OpBytes:
		answer, err = e.desk.supply(request)
	case OpHash:
		answer = []byte(source.SampledHash(request))
	case OpSlice:
		answer, err = e.slice(request)
	case OpBlock:
		answer, err = e.block(request)
	case OpParcel:
		answer, err = e.parcel(request)
	case OpWarm:
		answer = warm()
	case OpCall:
		answer, needs, err = e.desk.call(request)
		if e.desk.fresh {
			e.endSlice() // the file of this number is another one now
			e.desk.fresh = false
		}
		return answer, needs, err
	default:
		err = fmt.Errorf("unknown operation %d", op)
	}
	return answer, false, err
}

// take gives the partial of what was read since the last one, nothing if that is nothing.
func (e *Engine) take(finish bool) ([]byte, error) {
	if finish && e.slicing {
		e.finishSlice()
		return nil, nil
	}
	if e.scan == nil {
		return nil, errNoScan
	}
	if finish {
		e.scan.Finish()
	}
	p := e.scan.Take()
	if p.From == p.To && !p.End && len(p.Members) == 0 {
		return nil, nil
	}
	return p.AppendBinary(nil), nil
}

func (e *Engine) begin(request []byte) ([]byte, error) {
	var r struct {
		Source            int
		From, To, MaxLine int64
		Packed            bool
		Query             *struct {
			ID, Filter, Probe string
			Search            *search.Options
		}
	}
	if err := json.Unmarshal(request, &r); err != nil {
		return nil, fmt.Errorf("scan: %w", err)
	}
	toEnd := r.Packed && r.To == -1
	if r.Source < 0 || r.From < 0 || r.To < r.From && !toEnd {
		return nil, fmt.Errorf("scan: no range: source %d [%d, %d)", r.Source, r.From, r.To)
	}
	if e.scan != nil {
		e.scan.Close()
	}
	e.slicing = false
	if r.Packed {
		e.scan = analysis.NewPackedScan(r.Source, r.From, r.To, r.MaxLine)
	} else {
		e.scan = analysis.NewScan(r.Source, r.From, r.To, r.MaxLine)
	}
	e.scan.Keep(analysis.All)
	if r.Query != nil && r.Query.Search != nil {
		s, err := search.New(*r.Query.Search)
		if err != nil {
			return nil, fmt.Errorf("scan: %w", err)
		}
		e.scan.Ask(s.Number(), s)
	} else if r.Query != nil && r.Query.Probe != "" {
		p := view.ProbeByID(r.Query.Probe)
		if p == nil {
			return nil, fmt.Errorf("scan: no probe is called %q", r.Query.Probe)
		}
		e.scan.Ask(p.Number(), p.Mapper())
	} else if r.Query != nil {
		q, err := view.Ask(r.Query.Filter)
		if err != nil {
			return nil, fmt.Errorf("scan: %w", err)
		}
		if q == nil || view.QuestionID(q) != r.Query.ID {
			return nil, fmt.Errorf("scan: %q is not the question %s", r.Query.Filter, r.Query.ID)
		}
		e.scan.Ask(q.Number(), analysis.RowMapper(q))
	}
	return json.Marshal(map[string]int64{"next": e.scan.Next()})
}

// Failure is the answer to an operation that failed.
func Failure(message, stack string) []byte {
	b, _ := json.Marshal(map[string]string{"error": message, "stack": stack})
	return b
}

// warm scans the sample and forgets it. Browsers compile a module quickly first and well only after its
// functions have run for a while; this is done while nobody waits.
func warm() []byte {
	for _, f := range synth.Sample() {
		s := analysis.NewScan(0, 0, int64(len(f.Data)), 0).Keep(analysis.All)
		s.Feed(f.Data)
		s.Finish()
		s.Take()
	}
	return []byte("{}")
}
