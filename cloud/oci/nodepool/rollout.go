package nodepool

import (
	"strconv"
	"strings"

	"github.com/muster-project/muster/cloud/oci/containerengine"
	"github.com/muster-project/muster/cloud/oci/oke"
	"github.com/muster-project/muster/pool"
)

const (
	// typeCycling is the type of work requests that replace nodes, typeUpdate that of other changes. OKE may use it for cycling too.
	typeCycling = "NODEPOOL_CYCLING"
	typeUpdate  = "NODEPOOL_UPDATE"
)

// cycling returns whether the node pool is set to cycle nodes, which only updates that begin a cycling leave set.
func cycling(is *containerengine.NodePool) bool {
	return is.NodePoolCyclingDetails != nil && value(is.NodePoolCyclingDetails.IsNodeCyclingEnabled)
}

// cycles reports whether a work request cycles the nodes.
func (r poolRead) cycles(w oke.Work) bool {
	return text(w.OperationType) == typeCycling || text(w.OperationType) == typeUpdate && cycling(r.Pool)
}

// rollout returns the cycling that runs, or that was the last change of the node pool and has ended without success; nil for none.
func (r poolRead) rollout(want desired, reasons oke.Reasons) *pool.ProviderRollout {
	out := oke.Rollout(r.Works, r.cycles, reasons, r.Skew)
	if out != nil {
		out.Template, out.Percent = want.launched, r.percent(want)
	}
	return out
}

const allPercent = 100

// percent returns the share of nodes that are as the node pool is.
func (r poolRead) percent(want desired) int {
	all, done := 0, 0
	for _, n := range r.Nodes {
		if !n.staying() {
			continue
		}
		if all++; want.templateOf(r, n).Same(want.launched) {
			done++
		}
	}
	return oke.Share(done, all)
}

// surge returns how many nodes cycling adds to a number of them: a number or a percentage, 1 by default.
func (t target) surge(size int) int {
	written := "1"
	if d := t.spec.NodePoolCyclingDetails; d != nil && value(d.MaximumSurge) != "" {
		written = string(*d.MaximumSurge)
	}
	number, share := strings.CutSuffix(written, "%")
	n, err := strconv.Atoi(number)
	switch {
	case err != nil:
		return 1
	case share:
		return (n*size + allPercent - 1) / allPercent
	}
	return n
}

// howToCycle returns the settings of a cycling.
func (t target) howToCycle() *containerengine.NodePoolCyclingDetails {
	out := &containerengine.NodePoolCyclingDetails{IsNodeCyclingEnabled: new(true)}
	d := t.spec.NodePoolCyclingDetails
	if d == nil {
		return out
	}
	if d.MaximumSurge != nil && *d.MaximumSurge != "" {
		out.MaximumSurge = new(string(*d.MaximumSurge))
	}
	if d.MaximumUnavailable != nil && *d.MaximumUnavailable != "" {
		out.MaximumUnavailable = new(string(*d.MaximumUnavailable))
	}
	for _, mode := range d.CycleModes {
		out.CycleModes = append(out.CycleModes, string(mode))
	}
	return out
}
