package compute

import (
	"cmp"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/muster-project/muster/sim/azure/arm"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/document"
)

// Modes of an upgrade policy. Without one, machines are upgraded by request alone.
const (
	upgradeAutomatic = "Automatic"
	upgradeRolling   = "Rolling"
)

const rollingPath = "properties.upgradePolicy.rollingUpgradePolicy"

// rolling is a rolling upgrade: the machines of the batch that is being upgraded, when the next batch begins, and how many machines
// were upgraded before and how many of those are unhealthy.
type rolling struct {
	Batch            []string
	NextAt           time.Time
	Upgraded, Unwell int
}

// rollOut does with the machines that have an older model what the scale set's policy wants after each change: nothing, all at once, or
// one batch after the other. The service drains none of them.
func (w *upgrades) rollOut(s *scaleSet) {
	switch document.Text(s.Doc, "properties.upgradePolicy.mode") {
	case upgradeAutomatic:
		s.Roll = nil
		for _, m := range w.outdated(s) {
			w.virtualMachines.upgrade(s, m)
			w.running.wait(s, m)
		}
	case upgradeRolling:
		if s.Roll == nil {
			s.Roll = &rolling{}
		}
	default:
		s.Roll = nil
	}
}

// outdated are the machines that have an older model and may be given another one.
func (w *upgrades) outdated(s *scaleSet) []*machine {
	return slices.DeleteFunc(w.staying(s), func(m *machine) bool {
		return m.Model == s.Model || m.State == stateCreating || document.Truth(m.Protection, "protectFromScaleSetActions")
	})
}

// tickRoll carries a rolling upgrade on, and returns when its next batch begins.
func (w *upgrades) tickRoll(s *scaleSet) time.Time {
	if s.Roll == nil || s.deleting() {
		return time.Time{}
	}
	if len(s.Roll.Batch) > 0 && !w.batchEnded(s) {
		return time.Time{} // its machines have times of their own
	}
	if s.Roll.NextAt.After(w.Now) {
		return s.Roll.NextAt
	}
	if why := w.rollStops(s); why != nil {
		s.Roll, s.Trouble = nil, why
		if !s.busy() {
			s.State = stateFailed
		}
		w.changed(s)
		return time.Time{}
	}
	batch := w.nextBatch(s)
	if len(batch) == 0 {
		s.Roll = nil
		w.sets.Touch(s.key())
		return time.Time{}
	}
	for _, m := range batch {
		w.virtualMachines.upgrade(s, m)
		s.Roll.Batch = append(s.Roll.Batch, machineKey(m.Set, m.Instance))
	}
	w.running.begin(s, opUpgrade, batch...)
	return core.Earliest(batch[0].DoneAt, w.Now.Add(w.Life(lifeChange)))
}

// batchEnded reports whether nothing happens any more to the machines of the batch, and counts them.
func (w *upgrades) batchEnded(s *scaleSet) bool {
	unwell := 0
	for _, key := range s.Roll.Batch {
		m := w.machines.Get(key)
		if m != nil && m.changing() {
			return false
		}
		if m != nil && m.unwell() {
			unwell++
		}
	}
	s.Roll.Upgraded, s.Roll.Unwell = s.Roll.Upgraded+len(s.Roll.Batch), s.Roll.Unwell+unwell
	s.Roll.Batch, s.Roll.NextAt = nil, w.Now.Add(w.Life(lasting(document.Text(s.Doc, rollingPath+".pauseTimeBetweenBatches"))))
	w.sets.Touch(s.key())
	return true
}

// rollStops is why a rolling upgrade goes no further: too many machines are unhealthy, of those that it has upgraded or of all.
func (w *upgrades) rollStops(s *scaleSet) *arm.Trouble {
	all, unwell := w.staying(s), 0
	for _, m := range all {
		if m.unwell() {
			unwell++
		}
	}
	const words = "Rolling Upgrade failed after exceeding the %s value in the RollingUpgradePolicy. %d%% instances are in an unhealthy " +
		"state%s - more than the threshold of %d%% configured in the RollingUpgradePolicy."
	if most := percent(s, "maxUnhealthyUpgradedInstancePercent"); s.Roll.Upgraded > 0 && 100*s.Roll.Unwell > most*s.Roll.Upgraded {
		return &arm.Trouble{Code: "MaxUnhealthyUpgradedInstancePercentExceededInRollingUpgrade", Message: fmt.Sprintf(words,
			"MaxUnhealthyUpgradedInstancePercent", 100*s.Roll.Unwell/s.Roll.Upgraded, " after being upgraded", most)}
	}
	if most := percent(s, "maxUnhealthyInstancePercent"); len(all) > 0 && 100*unwell > most*len(all) && len(w.outdated(s)) > 0 {
		return &arm.Trouble{Code: "MaxUnhealthyInstancePercentExceededInRollingUpgrade", Message: fmt.Sprintf(words,
			"MaxUnhealthyInstancePercent", 100*unwell/len(all), "", most)}
	}
	return nil
}

// nextBatch are the machines that are upgraded next: the unhealthy first where the policy says so, and those of one zone unless it
// says otherwise.
func (w *upgrades) nextBatch(s *scaleSet) []*machine {
	list := slices.DeleteFunc(w.outdated(s), (*machine).changing)
	firstUnwell, acrossZones := document.Truth(s.Doc, rollingPath+".prioritizeUnhealthyInstances"),
		document.Truth(s.Doc, rollingPath+".enableCrossZoneUpgrade")
	rank := func(m *machine) int {
		if firstUnwell && m.unwell() {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(list, func(a, b *machine) int {
		if !acrossZones {
			return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Zone, b.Zone))
		}
		return cmp.Compare(rank(a), rank(b))
	})
	if !acrossZones && len(list) > 0 {
		zone := list[0].Zone
		list = slices.DeleteFunc(list, func(m *machine) bool { return m.Zone != zone })
	}
	return list[:min(len(list), max(1, percent(s, "maxBatchInstancePercent")*len(w.staying(s))/100))]
}

// defaultPercent is what the percentages of a rolling upgrade policy are that are not set.
const defaultPercent = 20

// leastPercent is the smallest batch, and the smallest share of unhealthy machines, of a rolling upgrade policy.
const leastPercent = 5

func percent(s *scaleSet, member string) int {
	if n, set := document.Number(s.Doc, rollingPath+"."+member); set {
		return n
	}
	return defaultPercent
}

// What the service says of policies that nothing tells the health of machines to.
const (
	wordsRollingBlind = "Rolling Upgrade mode is not supported for this Virtual Machine Scale Set because a health probe or " +
		"health extension was not provided."
	wordsRepairsBlind = "Automatic repairs not supported for this Virtual Machine Scale Set because a health probe or " +
		"health extension was not provided."
	wordsGrace = "The value '%s' of parameter 'automaticRepairsPolicy.gracePeriod' is out of range: it must be from PT10M to PT90M."
)

// unsimulated are the paths of what a policy may ask for and is not simulated.
var unsimulated = []string{
	rollingPath + ".maxSurge", rollingPath + ".rollbackFailedInstancesOnPolicyBreach",
	"properties.upgradePolicy.automaticOSUpgradePolicy.enableAutomaticOSUpgrade",
}

// checkPolicies refuses policies that the service would refuse, and those that are not simulated.
func checkPolicies(_ *scaleSet, d document.Object) error {
	switch {
	case document.Text(d, "properties.upgradePolicy.mode") == upgradeRolling && !monitored(d):
		return arm.BadRequest(wordsRollingBlind)
	case document.Truth(d, repairsPath+".enabled") && !monitored(d):
		return arm.BadRequest(wordsRepairsBlind)
	}
	if err := checkPercents(d); err != nil {
		return err
	}
	if grace := document.Text(d, repairsPath+".gracePeriod"); grace != "" && (lasting(grace) < leastGrace || lasting(grace) > mostGrace) {
		return arm.Invalid("automaticRepairsPolicy.gracePeriod", wordsGrace, grace)
	}
	for _, path := range unsimulated {
		if document.Truth(d, path) {
			return arm.Refuse(http.StatusBadRequest, "NotSupported", "The property '%s' is not supported by this simulation.", path)
		}
	}
	return nil
}

// checkPercents refuses percentages of a rolling upgrade policy that are out of range.
func checkPercents(d document.Object) error {
	for member, least := range map[string]int{
		"maxBatchInstancePercent": leastPercent, "maxUnhealthyInstancePercent": leastPercent, "maxUnhealthyUpgradedInstancePercent": 0,
	} {
		if n, given := document.Number(d, rollingPath+"."+member); given && (n < least || n > 100) {
			return arm.Invalid("rollingUpgradePolicy."+member, "The value '%d' of parameter 'rollingUpgradePolicy.%s' is out of range. The value "+
				"must be between '%d' and '100', inclusive.", n, member, least)
		}
	}
	return nil
}

var lastingPattern = regexp.MustCompile(`^PT(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?$`)

// lasting is a duration of ISO 8601 without days, zero where it is none.
func lasting(written string) time.Duration {
	var out time.Duration
	parts := lastingPattern.FindStringSubmatch(written)
	for i, unit := range []time.Duration{time.Hour, time.Minute, time.Second} {
		if len(parts) > i+1 && parts[i+1] != "" {
			n, err := strconv.Atoi(parts[i+1])
			if err != nil {
				return 0
			}
			out += time.Duration(n) * unit
		}
	}
	return out
}
