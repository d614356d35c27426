package crd_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// rolloutPolicyCases apply to both kinds of policies.
var rolloutPolicyCases = []ruleCase{
	{name: "empty", reason: "it restricts nothing", spec: "{}"},
	{name: "a window", reason: "the shortest that makes sense", spec: "windows: [{start: '22:00', duration: 6h}]"},
	{name: "a window in full", reason: "every field", spec: `
windows: [{days: [Mon, Sun], start: '00:30', duration: 1h30m, timeZone: America/Port-au-Prince, reasons: [Template, Version, Image, Age, Restart], grace: 0s}]`},
	{name: "hour 24", reason: "a day has 24 hours", spec: "windows: [{start: '24:00', duration: 6h}]",
		refused: []string{"spec.windows[0].start", "24:00"}},
	{name: "a short hour", reason: "one way to write it", spec: "windows: [{start: '2:00', duration: 6h}]",
		refused: []string{"spec.windows[0].start", "2:00"}},
	{name: "a day in full", reason: "days are an enumeration", spec: "windows: [{days: [Monday], start: '02:00', duration: 6h}]",
		refused: []string{"spec.windows[0].days[0]", "Monday", "Mon"}},
	{name: "a day twice", reason: "days are a set", spec: "windows: [{days: [Mon, Mon], start: '02:00', duration: 6h}]",
		refused: []string{"spec.windows[0].days[1]", "Duplicate"}},
	{name: "29 minutes", reason: "shorter than any replacement", spec: "windows: [{start: '02:00', duration: 29m}]",
		refused: []string{"spec.windows[0].duration", "from 30m to 168h"}},
	{name: "a week", reason: "the longest", spec: "windows: [{start: '02:00', duration: 168h}]"},
	{name: "more than a week", reason: "it would overlap itself", spec: "windows: [{start: '02:00', duration: 168h1s}]",
		refused: []string{"spec.windows[0].duration", "from 30m to 168h"}},
	{name: "days of duration", reason: "Go's durations end at hours", spec: "windows: [{start: '02:00', duration: 7d}]",
		refused: []string{"spec.windows[0].duration", "7d"}},
	{name: "a long grace", reason: "it bounds how far drains reach beyond a window",
		spec:    "windows: [{start: '02:00', duration: 6h, grace: 25h}]",
		refused: []string{"spec.windows[0].grace", "from 0s to 24h"}},
	{name: "another reason", reason: "involuntary removals are never held back",
		spec:    "windows: [{start: '02:00', duration: 6h, reasons: [Failed]}]",
		refused: []string{"spec.windows[0].reasons[0]", "Failed", "Template"}},

	{name: "days without removals", reason: "a freeze",
		spec: "exclusions: [{from: '2026-12-18', to: '2027-01-04', timeZone: Europe/Berlin, why: peak}]"},
	{name: "moments", reason: "RFC 3339",
		spec: "exclusions: [{from: '2026-12-18T18:00:00+01:00', to: '2026-12-18T22:00:00Z', scope: VersionOnly}]"},
	{name: "month 13", reason: "a year has 12 months", spec: "exclusions: [{from: '2026-13-18', to: '2027-01-04'}]",
		refused: []string{"spec.exclusions[0].from", "2026-13-18"}},
	{name: "a moment without offset", reason: "it is ambiguous", spec: "exclusions: [{from: '2026-12-18T18:00:00', to: '2027-01-04'}]",
		refused: []string{"spec.exclusions[0].from", "2026-12-18T18:00:00"}},
	{name: "another scope", reason: "scopes are an enumeration", spec: "exclusions: [{from: '2026-12-18', to: '2027-01-04', scope: Minor}]",
		refused: []string{"spec.exclusions[0].scope", "Minor"}},

	{name: "budgets", reason: "numbers and percentages",
		spec: "budgets: [{machines: 10%, pools: 2, per: Policy, reasons: [Age]}, {machines: 3}]"},
	{name: "no machines", reason: "nothing could ever be replaced", spec: "budgets: [{machines: 0}]",
		refused: []string{"spec.budgets[0].machines", "at least 1"}},
	{name: "no share of machines", reason: "nothing could ever be replaced", spec: "budgets: [{machines: 0%}]",
		refused: []string{"spec.budgets[0].machines", "'1%'"}},
	{name: "a number in quotes", reason: "it would be read as nothing", spec: "budgets: [{machines: '3'}]",
		refused: []string{"spec.budgets[0].machines", "without quotes"}},
	{name: "no pools", reason: "nothing could ever be replaced", spec: "budgets: [{pools: 0}]",
		refused: []string{"spec.budgets[0].pools", "greater than or equal to 1"}},
	{name: "an empty budget", reason: "it limits nothing", spec: "budgets: [{per: Policy}]",
		refused: []string{"spec.budgets[0]", "set machines or pools"}},

	{name: "gates", reason: "each kind of gate", spec: `
gates:
- {name: errors, prometheus: {address: 'https://prometheus.monitoring:9090/p', query: up, secretRef: {name: token}},
     success: result < 0.01, during: [Soak], interval: 10s, failures: 1, unknown: Fail}
- {name: argocd, condition: {apiVersion: argoproj.io/v1alpha1, kind: Application, name: shop, healthy: true}}
- {name: ready, condition: {apiVersion: v1, kind: Service, name: shop, conditionType: Ready, status: "False"}}
- {name: people, approval: {}}`},
	{name: "an empty gate", reason: "it would pass or hold back for ever", spec: "gates: [{name: a}]",
		refused: []string{"spec.gates[0]", "exactly one of prometheus, condition and approval"}},
	{name: "two in one", reason: "which of them counts is not clear",
		spec:    "gates: [{name: a, approval: {}, prometheus: {address: 'http://p', query: up}}]",
		refused: []string{"spec.gates[0]", "exactly one of prometheus, condition and approval"}},
	{name: "a name twice", reason: "an approval names its gate", spec: "gates: [{name: a, approval: {}}, {name: a, approval: {}}]",
		refused: []string{"spec.gates[1]", "Duplicate"}},
	{name: "an expression over an approval", reason: "there is no result", spec: "gates: [{name: a, approval: {}, success: result > 1.0}]",
		refused: []string{"spec.gates[0].success", "together with prometheus only"}},
	{name: "credentials in an address", reason: "secrets belong into Secrets",
		spec:    "gates: [{name: a, prometheus: {address: 'http://me:secret@p', query: up}}]",
		refused: []string{"spec.gates[0].prometheus.address", "should match"}},
	{name: "another scheme", reason: "the manager's files are no source",
		spec:    "gates: [{name: a, prometheus: {address: 'file:///etc/x', query: up}}]",
		refused: []string{"spec.gates[0].prometheus.address", "should match"}},
	{name: "a condition without a test", reason: "it would always pass",
		spec:    "gates: [{name: a, condition: {apiVersion: v1, kind: Pod, name: a}}]",
		refused: []string{"spec.gates[0].condition", "exactly one of healthy and conditionType"}},
	{name: "an unhealthy wish", reason: "false would read as its opposite",
		spec:    "gates: [{name: a, condition: {apiVersion: v1, kind: Pod, name: a, healthy: false}}]",
		refused: []string{"spec.gates[0].condition.healthy", "true"}},
	{name: "asked never", reason: "the gate would have no effect",
		spec:    "gates: [{name: a, prometheus: {address: 'http://p', query: up}, during: []}]",
		refused: []string{"spec.gates[0].during", "at least 1"}},
	{name: "asked all the time", reason: "it would load the server",
		spec:    "gates: [{name: a, prometheus: {address: 'http://p', query: up}, interval: 1s}]",
		refused: []string{"spec.gates[0].interval", "from 10s to 1h"}},

	{name: "the rest", reason: "every field", spec: "onFailure: Rollback\nmaxAge: {after: 720h, jitter: 50%}\nsettle: 2m"},
	{name: "young machines", reason: "the pool would roll all the time", spec: "maxAge: {after: 59m}",
		refused: []string{"spec.maxAge.after", "from 1h"}},
	{name: "much jitter", reason: "machines would go at any age", spec: "maxAge: {after: 720h, jitter: 51%}",
		refused: []string{"spec.maxAge.jitter", "51%"}},
	{name: "another failure action", reason: "actions are an enumeration", spec: "onFailure: Ignore",
		refused: []string{"spec.onFailure", "Ignore", "Halt", "Rollback"}},
	{name: "settling for days", reason: "nothing would roll", spec: "settle: 25h", refused: []string{"spec.settle", "from 0s to 24h"}},
	{name: "a misspelt field", reason: "what is left would restrict nothing", spec: "exclusion: []",
		refused: []string{"spec.exclusion", "unknown field"}},
}

// TestRolloutPolicyRules holds what the definitions of policies accept and refuse.
func TestRolloutPolicyRules(t *testing.T) {
	t.Parallel()
	forbidden := func(at string) []string { return []string{at, "can't be set in a RolloutPolicy"} }
	for kind, cases := range map[string][]ruleCase{
		"RolloutPolicy": {
			{name: "another namespace", reason: "a tenant reads its own", refused: forbidden("spec.gates"),
				spec: "gates: [{name: a, condition: {apiVersion: v1, kind: Pod, name: a, namespace: kube-system, conditionType: Ready}}]"},
			{name: "namespaces", reason: "it applies to its own", spec: "selector: {namespaces: {}}",
				refused: forbidden("spec.selector.namespaces")},
			{name: "clusters and pools", reason: "labels of both", spec: "selector: {clusters: {matchLabels: {env: prod}}, pools: {}}"},
		},
		"ClusterRolloutPolicy": {
			{name: "a namespace", reason: "the operator reads all",
				spec: "gates: [{name: a, condition: {apiVersion: v1, kind: Pod, name: a, namespace: kube-system, conditionType: Ready}}]"},
			{name: "namespaces", reason: "tenants can't change their labels", spec: "selector: {namespaces: {matchLabels: {tenant: 'yes'}}}"},
		},
	} {
		a := admissionOf(t, kind, "v1alpha1")
		for _, c := range append(cases, rolloutPolicyCases...) {
			t.Run(kind+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				compare(t, c.reason, a.admit(object(t, kindText(kind, "v1alpha1", c.spec)), nil), c.refused)
			})
		}
	}
}

// TestRolloutPolicyDefaults holds the defaults, which the admission webhook and the controllers rely on.
func TestRolloutPolicyDefaults(t *testing.T) {
	t.Parallel()
	a := admissionOf(t, "RolloutPolicy", "v1alpha1")
	given := object(t, kindText("RolloutPolicy", "v1alpha1", `
windows: [{start: '22:00', duration: 6h}]
exclusions: [{from: '2026-12-18', to: '2027-01-04'}]
budgets: [{pools: 1}]
gates: [{name: a, prometheus: {address: 'http://p', query: up}}]
maxAge: {after: 720h}`))
	if errs := a.admit(given, nil); len(errs) > 0 {
		t.Fatal(errs)
	}
	want := object(t, kindText("RolloutPolicy", "v1alpha1", `
windows: [{start: '22:00', duration: 6h, timeZone: UTC, grace: 30m}]
exclusions: [{from: '2026-12-18', to: '2027-01-04', timeZone: UTC, scope: All}]
budgets: [{pools: 1, per: Cluster}]
gates: [{name: a, prometheus: {address: 'http://p', query: up}, during: [BeforeWave, Soak], interval: 1m, failures: 3, unknown: Wait}]
maxAge: {after: 720h, jitter: 10%}`))
	if diff := cmp.Diff(want["spec"], given["spec"]); diff != "" {
		t.Errorf("defaults (-want +got):\n%s", diff)
	}
}
