package compute

import (
	"fmt"
	"math"

	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/gcp/project"
)

// percentFloor is how many instances a group has before its update policy may count in percent.
const percentFloor = 10

// checkPolicy refuses an update policy that Compute Engine would refuse.
func checkPolicy(g *manager) error {
	if g.Doc["updatePolicy"] == nil {
		return nil
	}
	for _, k := range []string{"maxSurge", "maxUnavailable"} {
		if err := g.checkBound(k); err != nil {
			return err
		}
	}
	if g.surge() == 0 && g.unavailable() == 0 {
		return project.Refuse(400, "invalid", "Invalid value for field 'resource.updatePolicy': maxSurge and maxUnavailable can't be both zero.")
	}
	if g.text("updatePolicy.replacementMethod", "SUBSTITUTE") == "RECREATE" && g.surge() > 0 {
		return project.Invalid("resource.updatePolicy.maxSurge", "", "maxSurge must be 0 when replacement method is set to RECREATE.")
	}
	return nil
}

// checkBound refuses a bound of the update policy.
func (g *manager) checkBound(k string) error {
	fixed, isFixed := document.Number(g.Doc, "updatePolicy."+k+".fixed")
	percent, isPercent := document.Number(g.Doc, "updatePolicy."+k+".percent")
	field := "resource.updatePolicy." + k
	if err := checkRange(field, fixed, percent); err != nil {
		return err
	}
	switch {
	case isFixed && isPercent:
		return project.Invalid(field, "", "Only one of fixed and percent can be specified.")
	case isFixed && g.regional() && fixed > 0 && fixed < len(g.zones()):
		return project.Invalid(field+".fixed", fmt.Sprint(fixed),
			"Fixed updatePolicy.%s for regional managed instance group has to be either 0 or at least equal to the number of zones.", k)
	case isPercent && g.Target > 0 && g.Target < percentFloor:
		return project.Invalid(field+".percent", "", "Percent can be specified for groups with at least %d instances only.", percentFloor)
	}
	return nil
}

// checkRange refuses a number of instances, and a percentage of them, that are out of range.
func checkRange(field string, fixed, percent int) error {
	switch {
	case fixed < 0:
		return project.Invalid(field+".fixed", fmt.Sprint(fixed), "Must be greater than or equal to 0")
	case percent < 0 || percent > 100:
		return project.Invalid(field+".percent", fmt.Sprint(percent), "Values must be within the following range: [0, 100]")
	}
	return nil
}

// text returns a field of the group, or its default.
func (g *manager) text(path, otherwise string) string {
	if s := document.Text(g.Doc, path); s != "" {
		return s
	}
	return otherwise
}

// surge and unavailable are the bounds of a rollout, in instances.
func (g *manager) surge() int       { return g.bound("maxSurge") }
func (g *manager) unavailable() int { return g.bound("maxUnavailable") }

// bound returns a bound of the update policy: as many as the group has zones where it is not set.
func (g *manager) bound(name string) int {
	if n, ok := document.Number(g.Doc, "updatePolicy."+name+".fixed"); ok {
		return n
	}
	if n, ok := document.Number(g.Doc, "updatePolicy."+name+".percent"); ok {
		return int(math.Ceil(float64(g.Target) * float64(n) / 100))
	}
	return len(g.zones())
}

// proactive reports whether the group rolls by itself.
func (g *manager) proactive() bool { return document.Text(g.Doc, "updatePolicy.type") == "PROACTIVE" }

// calculated returns how many instances of the group's size a version shall have.
func (g *manager) calculated(i int) int {
	rest := g.Target
	for k, v := range g.Versions {
		if v.Size == nil {
			continue
		}
		n, ok := document.Number(v.Size, "fixed")
		if !ok {
			percent, _ := document.Number(v.Size, "percent")
			n = int(math.Ceil(float64(g.Target) * float64(percent) / 100))
		}
		n = min(n, g.Target)
		if k == i {
			return n
		}
		rest -= n
	}
	return max(0, rest)
}

// healthCheck returns the path of the group's health check, "" for none, and how long its failures are ignored, in seconds.
func (g *manager) healthCheck() (path string, delay int) {
	for _, policy := range document.Objects(g.Doc, "autoHealingPolicies") {
		delay, _ = document.Number(policy, "initialDelaySec")
		return document.Text(policy, "healthCheck"), delay
	}
	return "", 0
}

// repairs reports whether the group repairs instances that failed, or that fail their health check.
func (g *manager) repairs(unhealthy bool) bool {
	action := g.text("instanceLifecyclePolicy.defaultActionOnFailure", "REPAIR")
	if own := g.text("instanceLifecyclePolicy.onFailedHealthCheck", "DEFAULT_ACTION"); unhealthy && own != "DEFAULT_ACTION" {
		action = own
	}
	return action == "REPAIR"
}
