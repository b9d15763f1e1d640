package filter

import (
	"bytes"
	"encoding/json"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/jsonl"
	"github.com/rollscope/rollscope/core/rollout"
)

// This file is a second evaluator: slow, over decoded JSON, with rationals for numbers and a table of truth for
// nothing but what the manual says. Filters must come out the same with both.

// A plainItem is what the second evaluator sees: nil for a missing value, else a bool, string, *big.Rat, []any or
// map[string]any.
type plainItem struct {
	row    any
	fields map[string]any // of an element of a named list
}

func plainJSON(text []byte) (v any, ok bool) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	err := d.Decode(&v)
	return v, err == nil
}

func plainScalar(v any) any {
	switch v := v.(type) {
	case json.Number:
		return plainNumber(string(v))
	case []any:
		list := make([]any, len(v))
		for i, e := range v {
			if list[i] = plainScalar(e); list[i] != nil {
				if _, nested := e.([]any); nested {
					list[i] = map[string]any{}
				}
			}
		}
		return list
	}
	return v
}

// plainNumber reads a number: whole ones exactly, others as the double next to them.
func plainNumber(s string) any {
	if r, ok := new(big.Rat).SetString(s); ok && !strings.ContainsAny(s, ".eE") && len(s) <= maxDigits {
		return r
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return nil
	}
	return new(big.Rat).SetFloat64(f)
}

func plainValue(v Value) any {
	switch v.kind {
	case boolean:
		return v.truth
	case text:
		return v.text
	case whole, float:
		if v.kind == float {
			return new(big.Rat).SetFloat64(v.float)
		}
		r, _ := new(big.Rat).SetString(v.whole.String())
		return r
	}
	return nil
}

func (it plainItem) ref(r *Ref) any {
	switch {
	case r.list != nil:
		return it.list(r.list)
	case r.Path != nil:
		return plainScalar(plainFollow(it.row, r.Path))
	}
	return it.fields[r.Name]
}

func plainFollow(v any, path []Step) any {
	for _, s := range path {
		switch at := v.(type) {
		case map[string]any:
			if s.Key == nil {
				return nil
			}
			v = at[*s.Key]
		case []any:
			if s.Key != nil || s.Index >= len(at) {
				return nil
			}
			v = at[s.Index]
		default:
			return nil
		}
	}
	return v
}

func (it plainItem) list(e *listExpr) any {
	var elements []plainItem
	switch {
	case e.list == nil:
		list, ok := plainFollow(it.row, e.path.Path).([]any)
		if !ok {
			return nil
		}
		for _, v := range list {
			elements = append(elements, plainItem{row: v})
		}
	case e.list.Name == "calls":
		row, _ := it.row.(map[string]any)
		trajectory, _ := row["ng_trajectory"].(map[string]any)
		list, ok := trajectory["model_calls"].([]any)
		if !ok {
			return nil
		}
		for _, v := range list {
			call, _ := v.(map[string]any)
			meta, _ := call["response_metadata"].(map[string]any)
			stats, _ := call["token_stats"].(map[string]any)
			elements = append(elements, plainItem{v, map[string]any{
				"id": plainScalar(call["model_call_id"]), "status": plainCount(meta["status_code"]), "model": plainScalar(meta["model"]), "error": plainScalar(meta["error_category"]),
				"prompt": plainCount(stats["prompt_tokens"]), "completion": plainCount(stats["completion_tokens"]),
			}})
		}
	default:
		return "other"
	}
	n := 0
	for _, el := range elements {
		if e.cond == nil || el.node(e.cond) {
			n++
		}
	}
	switch e.word {
	case quantAny:
		return n > 0
	case quantAll:
		return n == len(elements)
	}
	return new(big.Rat).SetInt64(int64(n))
}

// plainCount is a number that may come as a text of digits.
func plainCount(v any) any {
	if s, ok := v.(string); ok {
		if n, err := strconv.ParseInt(s, 10, 64); err == nil {
			return new(big.Rat).SetInt64(n)
		}
	}
	return plainScalar(v)
}

func (it plainItem) operand(o *operand) any {
	switch {
	case o.ref != nil:
		return it.ref(o.ref)
	case o.sum == nil:
		return plainValue(o.value)
	}
	left, ok := it.operand(&o.sum.left).(*big.Rat)
	if !ok {
		return nil
	}
	if o.sum.op == negation {
		return new(big.Rat).Neg(left)
	}
	right, ok := it.operand(&o.sum.right).(*big.Rat)
	if !ok {
		return nil
	}
	r := new(big.Rat)
	exact := left.IsInt() && right.IsInt() && plainSmall(left) && plainSmall(right)
	if exact || left.IsInt() && right.IsInt() {
		switch o.sum.op {
		case '+':
			r.Add(left, right)
		case '-':
			r.Sub(left, right)
		case '*':
			r.Mul(left, right)
		case '/':
			if right.Sign() == 0 {
				return nil
			}
			if r.Quo(left, right); !r.IsInt() {
				f, _ := r.Float64()
				r.SetFloat64(f)
			}
		}
		if f, _ := r.Float64(); math.IsInf(f, 0) {
			return nil
		}
		return r
	}
	f, _ := left.Float64()
	g, _ := right.Float64()
	switch o.sum.op {
	case '+':
		f += g
	case '-':
		f -= g
	case '*':
		f *= g
	case '/':
		f /= g
	}
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return nil
	}
	return r.SetFloat64(f)
}

// plainSmall keeps numbers that were doubles beyond 64 bits apart: those are calculated with as doubles.
func plainSmall(r *big.Rat) bool { return r.Num().BitLen() <= 63 }

func plainPairs(a, b any, fits func(a, b any) bool) bool {
	if a == nil || b == nil {
		return false
	}
	list := func(v any) []any {
		if l, ok := v.([]any); ok {
			return l
		}
		return []any{v}
	}
	for _, x := range list(a) {
		for _, y := range list(b) {
			if fits(x, y) {
				return true
			}
		}
	}
	return false
}

func plainEqual(a, b any) bool {
	switch x := a.(type) {
	case bool:
		y, ok := b.(bool)
		return ok && x == y
	}
	c, ok := plainOrder(a, b)
	return ok && c == 0
}

func plainOrder(a, b any) (int, bool) {
	switch x := a.(type) {
	case string:
		if y, ok := b.(string); ok {
			return strings.Compare(x, y), true
		}
	case *big.Rat:
		if y, ok := b.(*big.Rat); ok {
			return x.Cmp(y), true
		}
	}
	return 0, false
}

func (it plainItem) node(n node) bool {
	switch n := n.(type) {
	case *allNode:
		return !slices.ContainsFunc(n.nodes, func(m node) bool { return !it.node(m) })
	case *anyNode:
		return slices.ContainsFunc(n.nodes, it.node)
	case *notNode:
		return !it.node(n.of)
	case *listNode:
		truth, _ := it.ref(n.ref).(bool)
		return truth
	case *hasNode:
		return plainPairs(it.ref(n.ref), true, func(a, _ any) bool { return a != nil })
	case *compareNode:
		for i, op := range n.ops {
			a, b := it.operand(&n.operands[i]), it.operand(&n.operands[i+1])
			met := plainPairs(a, b, func(a, b any) bool {
				if op == opEqual || op == opDiffers {
					return plainEqual(a, b)
				}
				c, ok := plainOrder(a, b)
				return ok && map[string]bool{"<": c < 0, "<=": c <= 0, ">": c > 0, ">=": c >= 0}[opSigns[op]]
			})
			if op == opDiffers {
				met = !met && a != nil && b != nil
			}
			if !met {
				return false
			}
		}
		return true
	case *inNode:
		v := it.ref(n.ref)
		return v != nil && plainPairs(v, true, func(a, _ any) bool {
			return slices.ContainsFunc(n.values, func(w Value) bool { return plainEqual(a, plainValue(w)) })
		}) != n.negated
	case *containsNode:
		v := it.ref(n.ref)
		return v != nil && plainPairs(v, true, func(a, _ any) bool {
			s, ok := a.(string)
			return ok && strings.Contains(s, n.text)
		}) != n.negated
	case *matchNode:
		re := regexp.MustCompile(n.text)
		v := it.ref(n.ref)
		return v != nil && plainPairs(v, true, func(a, _ any) bool {
			s, ok := a.(string)
			return ok && re.MatchString(s)
		}) != n.negated
	}
	panic("unknown condition")
}

// plainRows are rows with the shapes that filters meet.
var plainRows = []string{
	`{}`,
	`{"a":{"b":[1,"x",null,[2],{}]},"x":[1,2],"y":1.5,"t":true,"n":null}`,
	`{"x":9007199254740993,"y":9007199254740992.0,"z":-3,"big":100000000000000000000000,"huge":1e300,"s":"a b","neg":-0.0}`,
	`{"ng_trajectory":{"model_calls":[{"model_call_id":"m1","response_metadata":{"status_code":200,"model":"a"},"token_stats":{"prompt_tokens":10,"completion_tokens":3}},{"response_metadata":{"status_code":"503","error_category":"x"}},7,null]},"list":[{"k":1,"v":["p","q"]},{"k":2.0,"v":[]},{"k":"2"},3]}`,
	`{"ng_trajectory":{"model_calls":[]},"list":[],"x":[]}`,
	`{"ng_trajectory":{"model_calls":{}},"list":{},"x":"2","y":"a"}`,
	`{"list":[1,2,3,4,5,6,7,8,9,10,"a","b"],"x":[10,9,8,7,6,"b","c"],"y":[11,12,13,14,15,16,17,18]}`,
}

var plainFilters = []string{
	"row.x + 1 > 2", "row.x * row.y = row.z / 0", "row.x / 2 > row.y / 3", "1 / row.x > 0 or -row.z = 3", "row.big * row.big > row.big", "row.huge * row.huge > 1",
	"row.x - row.y = 1", "row.x - (row.y - row.z) * 2 < 5", "row.s + 1 > 0 or row.t + 1 > 0 or row.x + 1 > 0", "row.neg * -1 = 0", "7 / 2 * row.z < -10",
	"any(calls, status >= 500)", "all(calls, status < 500)", "not any(calls, has(status))", "count(calls) > 2", "count(calls, status=503 or model:a) / count(calls) >= 0.5",
	"count(calls, prompt + completion > 12) = 1", "any(calls, id matches '^m' prompt > 2 * completion)", "any(row.list, item.k = 2)", "any(row.list, any(item.v, item : q))", "count(row.list, item.k = 2) = 1",
	"all(row.list, has(item.k) or item = 3)", "count(row.x) = 2", "any(row.a.b, item = 1 or item : x)", "any(row.a.b, any(item, item=2))", "row.s matches 'a.b' or row.y matches a", "row.s not matches '^b'",
	"row.list = row.x", "row.list < row.x", "row.list <= row.y", "row.x > row.list", "row.x != row.y", "count(row.list, item > 3) in (1, 7)", "any(calls, error in (x, y) or not has(item))",
	"-row.x < -1 <= -row.z", "row.x*2+1 > 3 - row.x",
}

// check2 holds a filter against the second evaluator.
func check2(t *testing.T, s string, line []byte) {
	f, err := Parse(s, nil)
	if err != nil {
		return
	}
	other := false
	f.each(func(n node) {
		n.refs(func(r *Ref) { other = other || r.list != nil && r.list.list != nil && r.list.list.Name != "calls" })
	})
	var reader rollout.Reader
	row := reader.Read(&jsonl.Line{Bytes: line, Length: int64(len(line)), Terminated: true})
	if other || row.Problem != nil || bytes.Contains(line, []byte(`\u`)) {
		return
	}
	var l Look
	l.At(row)
	plain, ok := plainJSON(line)
	if !ok {
		return // what the other reader cannot read it cannot judge
	}
	it := plainItem{row: plain}
	want := !slices.ContainsFunc(f.terms, func(n node) bool { return !it.node(n) })
	if got := f.Match(&l); got != want {
		t.Errorf("%s on %s: %t", f, line, got)
	}
	again, err := Parse(f.String(), nil)
	if err != nil || again.Match(&l) != want {
		t.Errorf("%s on %s: another answer after printing, %v", f, line, err)
	}
}

// each visits all conditions, those inside lists as well.
func (f Filter) each(visit func(node)) {
	f.leaves(func(n node) {
		visit(n)
		n.refs(func(r *Ref) {
			if r.list != nil && r.list.cond != nil {
				Filter{terms: []node{r.list.cond}}.each(visit)
			}
		})
	})
}

func TestPlain(t *testing.T) {
	met := map[string]int{}
	for _, s := range slices.Concat(plainFilters, seeds) {
		for _, row := range plainRows {
			check2(t, s, []byte(row))
			var l Look
			var reader rollout.Reader
			l.At(reader.Read(&jsonl.Line{Bytes: []byte(row), Terminated: true}))
			if f, err := Parse(s, nil); err == nil && f.Match(&l) {
				met[s]++
			}
		}
	}
	for _, s := range plainFilters {
		if _, err := Parse(s, nil); err != nil {
			t.Error(err)
		}
		if met[s] == 0 && s != "row.x * row.y = row.z / 0" && s != "row.huge * row.huge > 1" {
			t.Errorf("%s: no row fits", s)
		}
	}
}

func FuzzMatch(f *testing.F) {
	for _, s := range plainFilters {
		for _, row := range plainRows {
			f.Add(s, []byte(row))
		}
	}
	f.Fuzz(func(t *testing.T, s string, row []byte) { check2(t, s, row) })
}
