package engine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/rollscope/rollscope/core/analysis"
)

// An Engine is the state of one module instance. The zero Engine is ready.
type Engine struct {
	scan *analysis.Scan
	desk desk
}

var errNoScan = errors.New("no scan is running")

// Feed takes the next bytes of the running scan and tells whether its range is done.
func (e *Engine) Feed(b []byte) (done bool, err error) {
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
	case OpCall:
		return e.desk.call(request)
	default:
		err = fmt.Errorf("unknown operation %d", op)
	}
	return answer, false, err
}

// take gives the partial of what was read since the last one, nothing if that is nothing.
func (e *Engine) take(finish bool) ([]byte, error) {
	if e.scan == nil {
		return nil, errNoScan
	}
	if finish {
		e.scan.Finish()
	}
	p := e.scan.Take()
	if p.From == p.To {
		return nil, nil
	}
	return p.AppendBinary(nil), nil
}

func (e *Engine) begin(request []byte) ([]byte, error) {
	var r struct {
		Source            int
		From, To, MaxLine int64
	}
	if err := json.Unmarshal(request, &r); err != nil {
		return nil, fmt.Errorf("scan: %w", err)
	}
	if r.Source < 0 || r.From < 0 || r.To < r.From {
		return nil, fmt.Errorf("scan: no range: source %d [%d, %d)", r.Source, r.From, r.To)
	}
	e.scan = analysis.NewScan(r.Source, r.From, r.To, r.MaxLine)
	return json.Marshal(map[string]int64{"next": e.scan.Next()})
}

// Failure is the answer to an operation that failed.
func Failure(message, stack string) []byte {
	b, _ := json.Marshal(map[string]string{"error": message, "stack": stack})
	return b
}
