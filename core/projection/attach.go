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
	modelcall.Attachment
	payload bool // its calls may show what was sent and received
	joined  *trajectory.Bundle
}

// attach reads the capture of a row and joins its observations.
func (p *Projector) attach(key string, row *rollout.Row, observed jsonscan.Value) (*attached, error) {
	a := &p.fresh
	a.Reset(key)
	a.payload, a.joined = !Redacted(row.Trajectory) && !Redacted(observed), nil
	var names []trajectory.CallName
	unwritable := ""
	data, found, marker, err := p.Captures.Capture(key)
	if err != nil {
		a.Gaps = []modelcall.Gap{{Code: modelcall.GapUnreadable}}
	} else {
		scan := modelcall.Scan{Reader: &p.calls}
		scan.Data(data, func(c *modelcall.Call) {
			if reason := c.Writable(); reason != "" && unwritable == "" {
				unwritable = reason
			}
			p.tall = max(p.tall, c.Height)
			a.Add(c)
			p.builder.Add(c, a.payload)
			names = append(names, trajectory.NameOf(c))
		})
		a.Gaps = scan.Gaps(found, marker)
	}
	if unwritable == "" && !a.Metrics.Writable() {
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
		a.Gaps = append(a.Gaps, modelcall.Gap{Code: modelcall.GapJoinFailed})
		return a, nil
	}
	bundle.Join(names)
	a.joined = bundle
	p.bundle = p.builder.AppendBundle(p.bundle[:0], bundle)
	p.set("ng_agent_observations", p.bundle)
	return a, nil
}

// Redacted tells whether an agent took out the images of its history, so that nothing of what was sent may be shown.
func Redacted(v jsonscan.Value) bool {
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

// project puts the trajectory together and sets it, or says in its place why there is none.
func (p *Projector) project(row *rollout.Row, fresh *attached, observed, saved jsonscan.Value) (*trajectory.Built, error) {
	parts := trajectory.Parts{
		Origin: p.input.Origin, Producer: row.Trajectory, Observations: observed, Attachment: saved,
		Resolved: row.Value.Get("resolved"),
	}
	if fresh != nil {
		parts.Attachment, parts.Gaps, parts.Joined = jsonscan.Value{}, fresh.Gaps, fresh.joined
	}
	built, err := p.builder.Build(&parts)
	if p.builder.Wide() {
		return nil, fmt.Errorf("%w: a whole number of the evidence is beyond 64 bits", ErrUnwritable)
	}
	if err == nil {
		if fresh != nil {
			p.text = fresh.AppendJSON(p.text[:0], nil)
			p.set("ng_model_call_capture", p.text)
		} else if saved.IsObject() {
			p.set("ng_model_call_capture", trajectory.AppendStripped(nil, saved))
		}
		p.write("ng_trajectory", built)
		return built, nil
	}
	failure := err.(*trajectory.BuildError)
	p.drop("ng_trajectory")
	gap := modelcall.Gap{Code: modelcall.GapProjection, Detail: failure.Class}
	switch {
	case fresh != nil:
		fresh.Gaps = append(fresh.Gaps, gap)
		payloads, err := p.payloads(fresh)
		if err != nil {
			return nil, err
		}
		p.set("ng_model_call_capture", fresh.AppendJSON(nil, payloads))
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
	if task, repeat, err := p.input.Origin.IDs(); err == nil {
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
	list := make([][]byte, 0, a.Len())
	data, _, _, err := p.Captures.Capture(a.Key)
	if err != nil {
		return nil, fmt.Errorf("capture of %s: %w", a.Key, err)
	}
	p.calls.Reset()
	scan := modelcall.Scan{Reader: &p.calls}
	scan.Data(data, func(c *modelcall.Call) { list = append(list, c.AppendPayload(nil)) })
	if len(list) != a.Len() {
		return nil, fmt.Errorf("capture of %s: changed while it was read", a.Key)
	}
	return list, nil
}
