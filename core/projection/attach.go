package projection

import (
	"fmt"

	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/modelcall"
	"github.com/rollscope/rollscope/core/rollout"
	"github.com/rollscope/rollscope/core/trajectory"
)

// attached is an attachment that was made of a capture.
type attached struct {
	key     string
	metrics modelcall.Metrics
	gaps    []modelcall.Gap
	payload bool // its calls may show what was sent and received
	joined  *trajectory.Bundle
}

// attach reads the capture of a row and joins its observations.
func (p *Projector) attach(key string, row *rollout.Row, observed jsonscan.Value) (*attached, error) {
	a := &attached{key: key, payload: !redacted(row.Trajectory) && !redacted(observed)}
	var names []trajectory.CallName
	unwritable := ""
	data, found, marker, err := p.Captures.Capture(key)
	if err != nil {
		a.gaps = []modelcall.Gap{{Code: modelcall.GapUnreadable}}
	} else {
		scan := modelcall.Scan{Reader: &p.calls}
		scan.Data(data, func(c *modelcall.Call) {
			if reason := c.Writable(); reason != "" && unwritable == "" {
				unwritable = reason
			}
			p.tall = max(p.tall, c.Height)
			a.metrics.Add(c)
			p.heads = c.AppendHead(p.heads)
			p.tails = c.AppendTail(p.tails)
			p.ends = append(p.ends, [2]int{len(p.heads), len(p.tails)})
			p.builder.Add(c, a.payload)
			names = append(names, trajectory.NameOf(c))
		})
		a.gaps = scan.Gaps(found, marker)
	}
	if unwritable == "" && !a.metrics.Writable() {
		unwritable = "a sum of tokens is beyond 64 bits"
	}
	if unwritable != "" {
		return nil, fmt.Errorf("%w: %s", ErrUnwritable, unwritable)
	}
	if observed.IsNull() {
		return a, nil
	}
	bundle, err := p.builder.ReadBundle(observed)
	if err != nil {
		a.gaps = append(a.gaps, modelcall.Gap{Code: modelcall.GapJoinFailed})
		return a, nil
	}
	bundle.Join(names)
	a.joined = bundle
	p.set("ng_agent_observations", p.builder.AppendBundle(nil, bundle))
	return a, nil
}

// redacted tells whether an agent took out the images of its history, so that nothing of what was sent may be shown.
func redacted(v jsonscan.Value) bool {
	if !v.IsObject() {
		return false
	}
	for e := v.Get("gaps").Elements(); e.Next(); {
		if e.Value.IsObject() && e.Value.Get("code").Is(modelcall.GapRedacted) {
			return true
		}
	}
	return false
}

// attachment writes it.
func (p *Projector) attachment(a *attached, payloads [][]byte) []byte {
	return modelcall.AppendAttachment(nil, a.key, &a.metrics, func(dst []byte) []byte {
		head, tail := 0, 0
		for i, end := range p.ends {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(dst, p.heads[head:end[0]]...)
			if payloads != nil {
				dst = append(dst, payloads[i]...)
			}
			dst = append(dst, p.tails[tail:end[1]]...)
			head, tail = end[0], end[1]
		}
		return dst
	}, a.gaps)
}

// project puts the trajectory together and sets it, or says in its place why there is none.
func (p *Projector) project(row *rollout.Row, fresh *attached, observed, saved jsonscan.Value) (*trajectory.Built, error) {
	parts := trajectory.Parts{
		Origin: p.input.origin, Producer: row.Trajectory, Observations: observed, Attachment: saved,
		Resolved: row.Value.Get("resolved"),
	}
	if fresh != nil {
		parts.Attachment, parts.Gaps, parts.Joined = jsonscan.Value{}, fresh.gaps, fresh.joined
	}
	built, err := p.builder.Build(&parts)
	if p.builder.Wide() {
		return nil, fmt.Errorf("%w: a whole number of the evidence is beyond 64 bits", ErrUnwritable)
	}
	if err == nil {
		if fresh != nil {
			p.set("ng_model_call_capture", p.attachment(fresh, nil))
		} else if saved.IsObject() {
			p.set("ng_model_call_capture", trajectory.AppendStripped(nil, saved))
		}
		p.set("ng_trajectory", built.Text)
		return built, nil
	}
	failure := err.(*trajectory.BuildError)
	p.drop("ng_trajectory")
	gap := modelcall.Gap{Code: modelcall.GapProjection, Detail: failure.Class}
	switch {
	case fresh != nil:
		fresh.gaps = append(fresh.gaps, gap)
		payloads, err := p.payloads(fresh)
		if err != nil {
			return nil, err
		}
		p.set("ng_model_call_capture", p.attachment(fresh, payloads))
		return nil, nil
	case saved.IsObject():
		if text, ok := trajectory.AppendWithGap(nil, saved, gap); ok {
			p.set("ng_model_call_capture", text)
			return nil, nil
		}
	case observed.IsObject():
		if text, ok := trajectory.AppendWithGap(nil, observed, gap); ok {
			p.set("ng_agent_observations", text)
			return nil, nil
		}
	}
	if task, repeat, err := p.input.origin.IDs(); err == nil {
		p.set("ng_trajectory", trajectory.Minimal(task, repeat, failure.Class))
	}
	return nil, nil
}

// payloads reads the capture once more for what its calls sent and received. It is needed for the few rows whose
// trajectory failed, so nobody else has to keep it.
func (p *Projector) payloads(a *attached) ([][]byte, error) {
	if !a.payload {
		return nil, nil
	}
	list := make([][]byte, 0, len(p.ends))
	data, _, _, err := p.Captures.Capture(a.key)
	if err != nil {
		return nil, fmt.Errorf("capture of %s: %w", a.key, err)
	}
	p.calls.Reset()
	scan := modelcall.Scan{Reader: &p.calls}
	scan.Data(data, func(c *modelcall.Call) { list = append(list, c.AppendPayload(nil)) })
	if len(list) != len(p.ends) {
		return nil, fmt.Errorf("capture of %s: changed while it was read", a.key)
	}
	return list, nil
}
