package request

import (
	"math"
	"strconv"
	"time"

	"google.golang.org/api/container/v1"
	"k8s.io/utils/ptr"

	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
)

// The strategies by which GKE replaces nodes.
const (
	Surge     = "SURGE"
	BlueGreen = "BLUE_GREEN"
)

// percent is the whole of a share.
const percent = 100

// upgradeSettings returns how GKE is to replace nodes; nil where that is left to GKE. Fields that the specification names are marked to be
// sent although they are zero.
func upgradeSettings(s *gcpv1.UpgradeSettings) *container.UpgradeSettings {
	switch {
	case s == nil:
		return nil
	case s.Strategy == gcpv1.UpgradeBlueGreen:
		return &container.UpgradeSettings{Strategy: BlueGreen, BlueGreenSettings: blueGreen(s.BlueGreenSettings)}
	}
	out := &container.UpgradeSettings{
		Strategy: Surge, MaxSurge: int64(ptr.Deref(s.MaxSurge, 0)), MaxUnavailable: int64(ptr.Deref(s.MaxUnavailable, 0)),
	}
	if s.MaxSurge != nil {
		out.ForceSendFields = append(out.ForceSendFields, "MaxSurge")
	}
	if s.MaxUnavailable != nil {
		out.ForceSendFields = append(out.ForceSendFields, "MaxUnavailable")
	}
	return out
}

func blueGreen(s *gcpv1.BlueGreenSettings) *container.BlueGreenSettings {
	if s == nil {
		return nil
	}
	out := &container.BlueGreenSettings{}
	if s.NodePoolSoakDuration != nil {
		out.NodePoolSoakDuration = duration(s.NodePoolSoakDuration.Duration)
	}
	if p := s.StandardRolloutPolicy; p != nil {
		out.StandardRolloutPolicy = &container.StandardRolloutPolicy{
			BatchPercentage: float64(ptr.Deref(p.BatchPercentage, 0)) / percent, BatchNodeCount: int64(ptr.Deref(p.BatchNodeCount, 0)),
		}
		if p.BatchSoakDuration != nil {
			out.StandardRolloutPolicy.BatchSoakDuration = duration(p.BatchSoakDuration.Duration)
		}
	}
	return out
}

// duration returns a duration as GKE's API has it: in seconds.
func duration(d time.Duration) string {
	return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + "s"
}

// sameDuration reports whether two durations of GKE's API are equal; an absent one is zero.
func sameDuration(a, b string) bool {
	x, _ := time.ParseDuration(a)
	y, _ := time.ParseDuration(b)
	return x == y
}

// upgradesDiffer reports whether GKE replaces nodes otherwise than is wanted.
func upgradesDiffer(want, is *container.NodePool) bool {
	w := want.UpgradeSettings
	if w == nil {
		return false
	}
	has := is.UpgradeSettings
	if has == nil {
		has = &container.UpgradeSettings{}
	}
	if w.Strategy != strategyOf(has) {
		return true
	}
	for _, field := range w.ForceSendFields {
		if field == "MaxSurge" && w.MaxSurge != has.MaxSurge || field == "MaxUnavailable" && w.MaxUnavailable != has.MaxUnavailable {
			return true
		}
	}
	return w.BlueGreenSettings != nil && blueGreenDiffers(w.BlueGreenSettings, has.BlueGreenSettings)
}

// strategyOf returns the strategy of a node pool: SURGE where it names none.
func strategyOf(s *container.UpgradeSettings) string {
	if s.Strategy == "" || s.Strategy == "NODE_POOL_UPDATE_STRATEGY_UNSPECIFIED" {
		return Surge
	}
	return s.Strategy
}

func blueGreenDiffers(w, has *container.BlueGreenSettings) bool {
	if has == nil {
		has = &container.BlueGreenSettings{}
	}
	if w.NodePoolSoakDuration != "" && !sameDuration(w.NodePoolSoakDuration, has.NodePoolSoakDuration) {
		return true
	}
	p, q := w.StandardRolloutPolicy, has.StandardRolloutPolicy
	if p == nil {
		return false
	}
	if q == nil {
		q = &container.StandardRolloutPolicy{}
	}
	return p.BatchPercentage != 0 && percentOf(p) != percentOf(q) || p.BatchNodeCount != 0 && p.BatchNodeCount != q.BatchNodeCount ||
		p.BatchSoakDuration != "" && !sameDuration(p.BatchSoakDuration, q.BatchSoakDuration)
}

// percentOf returns a share in whole percent: GKE keeps it with the precision of 32 bits.
func percentOf(p *container.StandardRolloutPolicy) int64 {
	return int64(math.Round(p.BatchPercentage * percent))
}

// completed returns the wanted settings with what the specification leaves out as it is: GKE replaces all of them.
func completed(want, is *container.UpgradeSettings) *container.UpgradeSettings {
	out := *want
	if is == nil || strategyOf(is) != out.Strategy {
		return &out
	}
	named := map[string]bool{}
	for _, field := range want.ForceSendFields {
		named[field] = true
	}
	if !named["MaxSurge"] {
		out.MaxSurge = is.MaxSurge
	}
	if !named["MaxUnavailable"] {
		out.MaxUnavailable = is.MaxUnavailable
	}
	if out.Strategy == Surge {
		out.ForceSendFields = []string{"MaxSurge", "MaxUnavailable"}
	}
	out.BlueGreenSettings = completedBlueGreen(want.BlueGreenSettings, is.BlueGreenSettings)
	return &out
}

func completedBlueGreen(want, is *container.BlueGreenSettings) *container.BlueGreenSettings {
	if want == nil || is == nil {
		if want == nil {
			return is
		}
		return want
	}
	out := *want
	if out.NodePoolSoakDuration == "" {
		out.NodePoolSoakDuration = is.NodePoolSoakDuration
	}
	switch p, q := want.StandardRolloutPolicy, is.StandardRolloutPolicy; {
	case p == nil:
		out.StandardRolloutPolicy = q
	case q != nil:
		policy := *p
		if p.BatchNodeCount == 0 && p.BatchPercentage == 0 {
			policy.BatchNodeCount, policy.BatchPercentage = q.BatchNodeCount, q.BatchPercentage
		}
		if p.BatchSoakDuration == "" {
			policy.BatchSoakDuration = q.BatchSoakDuration
		}
		out.StandardRolloutPolicy = &policy
	}
	return &out
}
