package metrics

import "slices"

// A runKey is what tells agents apart: the stamp of the environment server, or the agent's name where there is none.
type runKey struct {
	key   string
	agent string
	named bool // the first row of the key names an agent
}

// labelsOf gives every key its label: the agent's name while nothing else has it, else the key itself (spec metrics
// §4). Of rows with one key the first decides about the agent.
func labelsOf(keys []runKey) map[string]string {
	owners := map[string]int{}
	agents := map[string]runKey{}
	var order []string
	for _, k := range keys {
		if _, ok := agents[k.key]; ok {
			continue
		}
		agents[k.key] = k
		order = append(order, k.key)
		if k.named {
			owners[k.agent]++
		}
	}
	labels := make(map[string]string, len(order))
	for _, key := range order {
		labels[key] = key
		if k := agents[key]; k.named && owners[k.agent] == 1 {
			labels[key] = k.agent
		}
	}
	for clash := true; clash; {
		clash = false
		shared := map[string]int{}
		for _, key := range order {
			shared[labels[key]]++
		}
		for _, key := range order {
			if label := labels[key]; label != key && shared[label] > 1 {
				labels[key] = key
				clash = true
			}
		}
	}
	return labels
}

// runKey gives the run key of a row; ok is false if it names neither a server nor an agent.
func (r *Run) runKey(row int) (k runKey, ok bool) {
	k.agent, k.named = r.Agent(row)
	if k.key, ok = r.Server(row); !ok {
		k.key, ok = k.agent, k.named
	}
	return k, ok
}

// labelling gives rows numbers of labels, which stand in order.
type labelling struct {
	names []string
	of    []int32 // of every row of the run: its label, −1 for none
}

// labelled labels rows by their own run keys.
func (r *Run) labelled(rows []int32) labelling {
	// Rows agree in few pairs of server and agent, so only the first of each is looked at.
	type pair struct{ server, agent uint32 }
	seen := map[pair]string{}
	var keys []runKey
	for _, row := range rows {
		p := pair{r.server[row], r.agent[row]}
		if _, ok := seen[p]; ok {
			continue
		}
		if k, ok := r.runKey(int(row)); ok {
			seen[p] = k.key
			keys = append(keys, k)
		}
	}
	labels := labelsOf(keys)
	l := labelling{of: make([]int32, r.Rows())}
	for i := range l.of {
		l.of[i] = -1
	}
	for _, label := range labels {
		l.names = append(l.names, label)
	}
	slices.Sort(l.names)
	l.names = slices.Compact(l.names)
	number := map[string]int32{}
	for i, name := range l.names {
		number[name] = int32(i)
	}
	for _, row := range rows {
		if key, ok := seen[pair{r.server[row], r.agent[row]}]; ok {
			l.of[row] = number[labels[key]]
		}
	}
	return l
}
