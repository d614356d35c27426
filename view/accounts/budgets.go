package accounts

import (
	"cmp"
	"slices"

	dto "github.com/prometheus/client_model/go"
)

// Budget is a rate budget of Muster, in requests.
type Budget struct {
	Name string `json:"name"`
	// Left may be sent at once, Size is what a full budget has, PerSecond flows in.
	Left      float64 `json:"left"`
	Size      float64 `json:"size"`
	PerSecond float64 `json:"perSecond"`
}

// share is the part of the budget that is left, from 0 to 1.
func (b Budget) share() float64 {
	if b.Size <= 0 {
		return 0
	}
	return b.Left / b.Size
}

// budgetsOf reads the rate budgets by account and region from the families of a registry.
func budgetsOf(families []*dto.MetricFamily) map[[2]string][]Budget {
	byName := map[[3]string]*Budget{}
	for _, f := range families {
		if f.GetName() != budgetLeft && f.GetName() != budgetSize && f.GetName() != budgetRefill {
			continue
		}
		for _, m := range f.GetMetric() {
			labels, value := labelsOf(m), m.GetGauge().GetValue()
			name := [3]string{labels["account"], labels["region"], labels["budget"]}
			if byName[name] == nil {
				byName[name] = &Budget{Name: labels["budget"]}
			}
			switch f.GetName() {
			case budgetLeft:
				byName[name].Left = value
			case budgetSize:
				byName[name].Size = value
			case budgetRefill:
				byName[name].PerSecond = value
			}
		}
	}
	out := map[[2]string][]Budget{}
	for name, b := range byName {
		account := [2]string{name[0], name[1]}
		out[account] = append(out[account], *b)
	}
	for _, list := range out {
		slices.SortFunc(list, func(x, y Budget) int { return cmp.Or(cmp.Compare(x.share(), y.share()), cmp.Compare(x.Name, y.Name)) })
	}
	return out
}
