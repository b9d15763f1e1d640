package metrics

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rollscope/rollscope/core/jsonscan"
)

// Zeros say which rollouts without a result count with a reward of zero (spec outcomes §7, omitted §5). The zero
// Zeros count nothing.
type Zeros struct {
	Classes []string // failure classes whose last failure counts
	Missing bool     // rows of the inventory with neither result nor failure count
}

// Any tells whether something can be counted.
func (z Zeros) Any() bool { return z.Missing || len(z.Classes) > 0 }

// ClassField is the member that names the class of a failure. Failures must be mapped with it as the only one of
// [Mapper.Fields], and together with results and inputs with [Mapper.Keys].
const ClassField = "_ng_failure_class"

// A Collection gathers the shards of a run with their sidecars, so that failed and missing rollouts can count as
// zero. Rows are added shard by shard, in the order of the files; the order of the kinds does not matter.
type Collection struct {
	zeros  Zeros
	run    *Run
	shards []*shard
	d      digest

	// Counted and Imputed tell after Finish how many failures and how many missing rollouts were added as rows.
	Counted, Imputed int
	// Unroutable counts rows of inventories that would have been imputed, but name neither server nor agent.
	Unroutable int
}

// A shard is one rollouts file with its sidecars. Rows of sidecars are known by task and rollout.
type shard struct {
	results  map[shardKey]bool
	failures ordered
	inputs   ordered
}

// shardKey is a task and a rollout index as the sidecars have them; a missing index is not 0 there.
type shardKey struct{ task, repeat string }

// ordered keeps the last row of every key, in the order in which keys first came.
type ordered struct {
	at   map[shardKey]int
	rows []Row
	keys []shardKey
}

func (o *ordered) set(k shardKey, row *Row) {
	kept := *row
	kept.Digest = slices.Clone(row.Digest)
	if i, ok := o.at[k]; ok {
		o.rows[i] = kept
		return
	}
	if o.at == nil {
		o.at = map[shardKey]int{}
	}
	o.at[k] = len(o.rows)
	o.rows = append(o.rows, kept)
	o.keys = append(o.keys, k)
}

// NewCollection begins a collection without shards.
func NewCollection(z Zeros) *Collection {
	return &Collection{zeros: z, run: NewRun(Options{})}
}

// Shard begins the next shard.
func (c *Collection) Shard() { c.shards = append(c.shards, &shard{results: map[shardKey]bool{}}) }

// Result adds a row of the shard's rollouts file. Errors are those of [Run.Add].
func (c *Collection) Result(row *Row) error {
	if err := c.run.Add(row); err != nil {
		return err
	}
	if c.zeros.Any() {
		c.last().results[c.key(&c.run.d)] = true
	}
	return nil
}

// Failure adds a row of the shard's failures sidecar.
func (c *Collection) Failure(row *Row) error { return c.side(&c.last().failures, row, true) }

// Input adds a row of the shard's inventory.
func (c *Collection) Input(row *Row) error { return c.side(&c.last().inputs, row, false) }

func (c *Collection) side(list *ordered, row *Row, replace bool) error {
	if err := c.d.open(row.Digest); err != nil {
		return fmt.Errorf("%s:%d: %w", row.Name, row.Line, err)
	}
	if err := c.run.check(&c.d, row); err != nil {
		return err
	}
	k := c.key(&c.d)
	if _, ok := list.at[k]; !ok || replace {
		list.set(k, row)
	}
	return nil
}

func (c *Collection) last() *shard { return c.shards[len(c.shards)-1] }

func (c *Collection) key(d *digest) shardKey {
	text := func(x index) string {
		switch x.kind {
		case indexMissing:
			return ""
		case indexText:
			return "t" + string(x.text)
		}
		return "i" + x.key().String()
	}
	return shardKey{text(d.task), text(d.repeat)}
}

// rollout is a rollout within the run: the server it belongs to, task and repeat, a missing index being 0.
type rolloutID struct {
	server       string
	task, repeat uint32
}

// Run gives all results with the rows that were added to them. Errors wrap [ErrRefused].
func (c *Collection) Run() (*Run, error) {
	if !c.zeros.Any() {
		return c.run, nil
	}
	r := c.run
	rows := r.all()
	servers, err := r.route(rows)
	if err != nil {
		return nil, err
	}
	scored := map[rolloutID]bool{}
	carried := map[string]map[string]bool{} // fields that rows of a server have
	for i, row := range rows {
		server := servers[i]
		scored[rolloutID{server, r.task[row], r.repeat[row]}] = true
		if carried[server] == nil {
			carried[server] = map[string]bool{}
		}
		for cell := range r.cellsOf(int(row)) {
			if cell.uses&sawField != 0 {
				carried[server][r.names.texts[cell.name]] = true
			}
		}
	}
	fronts := map[string]string{}
	for i, row := range rows {
		if agent, ok := r.Agent(int(row)); ok && r.stamped(int(row)) {
			fronts[agent] = servers[i]
		}
	}
	inventory, err := c.inventory(fronts)
	if err != nil {
		return nil, err
	}
	added := map[rolloutID]bool{}
	if err := c.failures(scored, carried, fronts, inventory, added); err != nil {
		return nil, err
	}
	if c.zeros.Missing {
		if err := c.missing(scored, carried, fronts, inventory, added); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// server is the server of a sidecar row, "" if it names neither server nor agent.
func server(d *digest, fronts map[string]string) string {
	switch {
	case d.flags&flagServerText != 0:
		return string(d.server)
	case d.flags&flagAgent == 0:
		return ""
	}
	if s, ok := fronts[string(d.agent)]; ok {
		return s
	}
	return relay(string(d.agent))
}

func (c *Collection) identify(d *digest, fronts map[string]string) rolloutID {
	return rolloutID{server(d, fronts), c.run.keys.number(d.task.key()), c.run.keys.number(d.repeat.key())}
}

// inventory finds the inventory row of every rollout.
func (c *Collection) inventory(fronts map[string]string) (map[rolloutID]*Row, error) {
	all := map[rolloutID]*Row{}
	for _, s := range c.shards {
		for i := range s.inputs.rows {
			row := &s.inputs.rows[i]
			if err := c.d.open(row.Digest); err != nil {
				return nil, err
			}
			id := c.identify(&c.d, fronts)
			if _, ok := all[id]; !ok && id.server != "" {
				all[id] = row
			}
		}
	}
	return all, nil
}

// failures adds the failures that count. Which row of a rollout is looked at is decided before its class is.
func (c *Collection) failures(scored map[rolloutID]bool, carried map[string]map[string]bool, fronts map[string]string, inventory map[rolloutID]*Row, added map[rolloutID]bool) error {
	last := map[rolloutID]*Row{}
	var order []rolloutID
	for _, s := range c.shards {
		for i := range s.failures.rows {
			row := &s.failures.rows[i]
			if s.results[s.failures.keys[i]] {
				continue
			}
			if err := c.d.open(row.Digest); err != nil {
				return err
			}
			id := c.identify(&c.d, fronts)
			if id.server == "" || scored[id] {
				continue
			}
			if _, ok := last[id]; !ok {
				order = append(order, id)
			}
			last[id] = row
		}
	}
	for _, id := range order {
		added[id] = true
		row := last[id]
		if err := c.d.open(row.Digest); err != nil {
			return err
		}
		if len(c.d.fields) == 0 || c.d.fields[0].kind != jsonscan.String || !slices.Contains(c.zeros.Classes, string(c.d.fields[0].text)) {
			continue
		}
		c.d.top = slices.DeleteFunc(c.d.top, func(n named) bool {
			name := string(n.name)
			return strings.HasPrefix(name, "_ng_failure_") || name == "failure_kind" || name == "failure_reason"
		})
		c.d.flags &^= flagMasked
		if c.d.reward.kind == cellAbsent {
			c.reward()
		}
		if err := c.inherit(id, carried[id.server], inventory); err != nil {
			return err
		}
		c.run.add(&c.d, row)
		c.Counted++
	}
	return nil
}

// missing adds the rollouts of the inventory that left nothing behind.
func (c *Collection) missing(scored map[rolloutID]bool, carried map[string]map[string]bool, fronts map[string]string, inventory map[rolloutID]*Row, added map[rolloutID]bool) error {
	for _, s := range c.shards {
		for i := range s.inputs.rows {
			row, key := &s.inputs.rows[i], s.inputs.keys[i]
			if _, failed := s.failures.at[key]; failed || s.results[key] {
				continue
			}
			if err := c.d.open(row.Digest); err != nil {
				return err
			}
			id := c.identify(&c.d, fronts)
			if id.server == "" {
				c.Unroutable++
				continue
			}
			if scored[id] || added[id] {
				continue
			}
			added[id] = true
			// Of the row itself only its identity and its reward are left.
			c.d.top, c.d.usage, c.d.fields = c.d.top[:0], c.d.usage[:0], c.d.fields[:0]
			c.d.flags &= flagAgent | flagServer | flagServerText
			c.d.perf = 0
			c.reward()
			if err := c.inherit(id, carried[id.server], inventory); err != nil {
				return err
			}
			c.run.add(&c.d, row)
			c.Imputed++
		}
	}
	return nil
}

// reward sets the reward of the opened row to zero.
func (c *Collection) reward() {
	c.d.reward = cell{kind: cellSmall}
	c.d.top = append(c.d.top, named{dictionaryBytes[0], c.d.reward})
}

// inherit takes over fields of the inventory row that real rows of the server carry and the opened row lacks.
func (c *Collection) inherit(id rolloutID, carried map[string]bool, inventory map[rolloutID]*Row) error {
	from, ok := inventory[id]
	if !ok {
		return nil
	}
	var d digest
	if err := d.open(from.Digest); err != nil {
		return err
	}
	for _, n := range d.top {
		name := string(n.name)
		if strings.HasPrefix(name, "_") || name == "response" || name == "responses_create_params" || !carried[name] {
			continue
		}
		if !slices.ContainsFunc(c.d.top, func(own named) bool { return string(own.name) == name }) {
			c.d.top = append(c.d.top, n)
		}
	}
	return nil
}
