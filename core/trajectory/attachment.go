package trajectory

import (
	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/modelcall"
	"github.com/rollscope/rollscope/core/value"
)

// A row may come with calls attached already. They are objects of any content then, and what a trajectory takes from
// them is held against its schema.

// attachment takes over calls and gaps of a saved attachment.
func (b *Builder) attachment(v jsonscan.Value) *BuildError {
	calls := v.Get("calls")
	if calls.Truthy() && !calls.IsArray() && !calls.IsObject() && !calls.IsString() {
		return &BuildError{ClassType, "calls of the attachment is a " + calls.Kind().String()}
	}
	var list []*draftCall
	e := calls.Elements()
	for e.Next() {
		if !e.Value.IsObject() {
			continue
		}
		d, err := b.attached(e.Value)
		if err != nil {
			return err
		}
		list = append(list, d)
	}
	b.capture(list)

	gaps := v.Get("gaps")
	if gaps.Truthy() && !gaps.IsArray() && !gaps.IsObject() && !gaps.IsString() {
		return &BuildError{ClassType, "gaps of the attachment is a " + gaps.Kind().String()}
	}
	for e := gaps.Elements(); e.Next(); {
		if !e.Value.IsObject() {
			continue
		}
		r := &b.saved
		r.reset()
		if !r.object(&gapTable, e.Value) {
			b.gap(modelcall.GapGapInvalid, "")
			continue
		}
		g := r.record.Gaps[0]
		b.gaps = append(b.gaps, Gap{keptText(g.Code), keptText(g.InvocationID), keptText(g.Detail)})
	}
	return nil
}

// statsNames tell from which key of an attached call a count comes.
var statsNames = [statsFields]string{"tokens_in", "tokens_out", "tokens_reasoning", "tokens_total", "cached_tokens"}

// attached makes a draft of an attached call.
func (b *Builder) attached(v jsonscan.Value) (*draftCall, *BuildError) {
	request, response := v.Get("request"), v.Get("response")
	if request.IsNull() {
		request = v.Get("request_raw")
	}
	if response.IsNull() {
		response = v.Get("response_raw")
	}
	// What is left is small: it is written as a call of a trajectory and read by the same rules.
	dst := []byte(`{"model_call_id":`)
	dst = value.AppendScanned(dst, v.Get("model_call_id"))
	dst = value.AppendScanned(append(dst, `,"started_at":`...), v.Get("started_at"))
	dst = value.AppendScanned(append(dst, `,"completed_at":`...), v.Get("completed_at"))
	dst = value.AppendScanned(append(dst, `,"duration_ms":`...), v.Get("latency_total_ms"))
	dst = append(dst, `,"response_metadata":{`...)
	for i := range metadataTable.fields {
		key := metadataTable.fields[i].name
		found := v.Get(key)
		if found.IsNull() && i == metaResponseStatus {
			if status := v.Get("response").Get("status"); status.IsString() {
				found = status
			}
		}
		if !found.IsNull() {
			dst = value.AppendScanned(name(dst, key), found)
		}
	}
	dst = append(dst, `},"token_stats":{`...)
	for i, key := range statsNames {
		n, ok := v.Get(key).Integer()
		if ok && !n.Negative {
			dst = n.Append(name(dst, statsTable.fields[i].name))
		}
	}
	dst = append(dst, `}}`...)
	scanned, err := b.scanner.Scan(dst)
	if err != nil {
		return nil, &BuildError{ClassValidation, err.Error()}
	}
	r := &b.saved
	r.reset()
	if !r.object(&callTable, scanned) {
		return nil, &BuildError{ClassValidation, r.fault.in(scanned).Error()}
	}
	d := b.draftOf(&r.record.Calls[0])
	c := &d.call
	c.At = jsonscan.Value{}
	c.ID, c.ResponseID = keptText(c.ID), keptText(c.ResponseID)
	c.ModelRef.Type, c.ModelRef.Name = keptText(c.ModelRef.Type), keptText(c.ModelRef.Name)
	b.deep = b.deep || exceeds(request, freeLevels) || exceeds(response, freeLevels)
	b.arena.payload(d, request, response)
	return d, nil
}

// AppendStripped appends a saved attachment without the payloads of its calls.
func AppendStripped(dst []byte, v jsonscan.Value) []byte {
	tree := value.Of(v)
	calls := tree.Get("calls")
	if calls.Kind() != jsonscan.Array {
		return tree.Append(dst, value.Row)
	}
	items := calls.Items()
	for i := range items {
		if items[i].IsObject() {
			items[i] = items[i].Without(modelcall.PayloadFields[:]...)
		}
	}
	return tree.With("calls", value.List(items...)).Append(dst, value.Row)
}

// AppendWithGap appends an object with one more gap in its list, which is made where it is missing. It is not ok
// where `gaps` is something else.
func AppendWithGap(dst []byte, v jsonscan.Value, g modelcall.Gap) (out []byte, ok bool) {
	gaps := v.Get("gaps")
	if gaps.Exists() && !gaps.IsArray() {
		return dst, false
	}
	members := []value.Member{value.M("code", value.Text(g.Code))}
	if g.Detail != "" {
		members = append(members, value.M("detail", value.Text(g.Detail)))
	}
	tree := value.Of(v)
	items := append(tree.Get("gaps").Items(), value.Object(members...))
	return tree.With("gaps", value.List(items...)).Append(dst, value.Row), true
}
