package kapsule

import (
	"cmp"
	"fmt"
	"time"

	"github.com/scaleway/scaleway-sdk-go/api/k8s/v1"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/scaleway/session"
	"github.com/muster-project/muster/pool"
)

// launchFailed is the reason of a failure whose words do not tell its kind.
const launchFailed = "LaunchFailed"

// problems collects what Kapsule tells of a pool and its nodes, each message once.
type problems struct {
	zone string
	told map[string]bool
	list []pool.Cause
}

// add adds a message. The reason is that of its words where they tell one.
func (p *problems) add(reason, words string) {
	if words == "" || p.told[words] {
		return
	}
	p.told[words] = true
	cause := driverkit.FailureOf(session.FailureOf(words, p.zone))
	if cause.Reason == launchFailed {
		cause.Reason = reason
	}
	p.list = append(p.list, cause)
}

// statusIssues returns the reasons why nodes are not created, with Kapsule's messages if it reports any. Neither a warning nor a lock
// prevents the observation of the pool.
func (r poolRead) statusIssues() []pool.Cause {
	p := &problems{zone: string(r.pool.Zone), told: map[string]bool{}}
	words := textOr(r.pool.ErrorMessage, "")
	switch r.pool.Status {
	case k8s.PoolStatusWarning:
		p.add("PoolWarning", cmp.Or(words, "Kapsule reports a problem with the pool or its nodes, and no details"))
	case k8s.PoolStatusLocked:
		p.add("PoolLocked", cmp.Or(words, "Scaleway has locked the pool because of an abuse that was detected or reported: contact its support"))
	default:
		p.add(launchFailed, words)
	}
	for _, n := range r.nodes {
		if n.staying() {
			p.add(n.problem())
		}
	}
	return p.list
}

// problem returns what Kapsule tells of a node that is not well; an empty message for one that is.
func (n node) problem() (reason, words string) {
	words = textOr(n.ErrorMessage, "")
	switch {
	case words != "":
		return launchFailed, words
	case n.state == pool.Failed:
		return launchFailed, "Kapsule could not create a node, and does not report why"
	case n.Status == k8s.NodeStatusLocked:
		return "NodeLocked", "Scaleway has locked node " + n.Name + " because of an abuse that was detected or reported: contact its support"
	}
	return "", ""
}

func textOr(text *string, otherwise string) string {
	if text == nil {
		return otherwise
	}
	return *text
}

// versionIssues are those of the version: what it waits for, and why it can't be had.
func (d *desired) versionIssues(t target, read poolRead) []pool.Cause {
	reason, message := "", ""
	switch runs, field, requested := read.pool.Version, rows.SpecOf(memberVersion), t.KubernetesVersion; {
	case d.path.WaitsForControlPlane:
		reason, message = pool.ControlPlaneUpgradePending, "nodes run "+d.path.String()
	case d.ahead:
		reason, message = "NewerVersion", fmt.Sprintf("the pool runs Kubernetes %s, %s asks for %s: Kapsule takes no pool back, and the newer "+
			"version is kept", runs, field, requested)
	case d.passed:
		reason, message = "VersionPassed", fmt.Sprintf("the pool runs Kubernetes %s, %s asks for %s, and the control plane runs %s: Kapsule "+
			"upgrades pools to the version of the control plane alone. Ask for that version", runs, field, requested, read.Doc.Version)
	default:
		return nil
	}
	return []pool.Cause{{Reason: reason, Message: message}}
}

// caveats returns the warnings about the next upgrade.
func (d *desired) caveats(t target, is *k8s.Pool) []pool.Cause {
	add, _ := t.spec.Upgrade()
	switch {
	case t.spec.External():
		return nil
	case d.upgrades() && add == 0:
		return []pool.Cause{{Reason: "UpgradeWithoutSurge", Message: fmt.Sprintf(
			"spec.upgradePolicy.maxSurge is 0: Kapsule takes up to %d nodes before their replacements run", policyOf(is, unavailable))}}
	case t.spec.UpgradePolicy == nil && d.drift.Has(memberPolicy):
		return []pool.Cause{{Reason: "DefaultSurge", Message: fmt.Sprintf(
			"spec.upgradePolicy is not set and the pool has a surge of %d: it becomes 1, with 0 nodes unavailable, because an upgrade without "+
				"surge takes a node before its replacement runs", policyOf(is, surge))}}
	}
	return nil
}

const (
	// upgradeAgain delays the next attempt of an upgrade that waits for a resize.
	upgradeAgain = 10 * time.Second
	// scalingLimit bounds the wait of an upgrade for the nodes of a pool, from the pool's last change. Nodes that are missing by then may
	// never join, and Kapsule need not show that: an upgrade that replaces them is requested, and Kapsule decides.
	scalingLimit = 15 * time.Minute
)

// scaling returns why an upgrade waits; nil if it does not. Kapsule refuses to upgrade a pool that it resizes.
func (r poolRead) scaling(now time.Time) error {
	if r.pool.Status != k8s.PoolStatusScaling || now.Sub(r.ours(r.pool.UpdatedAt)) >= scalingLimit {
		return nil
	}
	return &cloud.Error{Kind: cloud.Conflict, Code: "PoolScaling", After: upgradeAgain,
		Message: fmt.Sprintf("pool %s is scaling: it is upgraded afterwards", r.pool.Name)}
}
