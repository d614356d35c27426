package crd_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/api/common"
)

// TestAWSAccessKeysAreNotShown prints keys in every way that a log or an error may.
func TestAWSAccessKeysAreNotShown(t *testing.T) {
	t.Parallel()
	keys := awsv1.NewAccessKeys("AKIAEXAMPLE", "s3cret", "t0ken")
	holder := struct {
		Shown  awsv1.IdentityView
		hidden awsv1.IdentityView
	}{awsv1.IdentityView{Keys: keys}, awsv1.IdentityView{Keys: keys}}
	texts := []string{}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x", "%t"} {
		texts = append(texts, fmt.Sprintf(verb, keys), fmt.Sprintf(verb, &keys), fmt.Sprintf(verb, holder), fmt.Sprintf(verb, &holder),
			fmt.Sprintf(verb, holder.hidden))
	}
	encoded, err := json.Marshal(holder)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range append(texts, string(encoded)) {
		for _, secret := range []string{"AKIAEXAMPLE", "s3cret", "t0ken", fmt.Sprintf("%x", "s3cret")} {
			if strings.Contains(text, secret) {
				t.Errorf("want no keys in what is printed, found %s in %s", secret, text)
			}
		}
	}
	if id, secret, token := keys.Expose(); id+secret+token != "AKIAEXAMPLEs3crett0ken" {
		t.Errorf("want the keys where they are asked for, got %s %s %s", id, secret, token)
	}
}

func TestFingerprintOfAWSIdentity(t *testing.T) {
	t.Parallel()
	base := func() *awsv1.IdentityView {
		return &awsv1.IdentityView{Name: "AWSClusterRoleIdentity/a", Keys: awsv1.NewAccessKeys("a", "b", ""),
			Roles: []awsv1.RoleView{{ARN: "arn", PolicyARNs: []string{"p"}}}}
	}
	if (*awsv1.IdentityView)(nil).Fingerprint() != "" {
		t.Error("want no fingerprint for the controller's own credentials")
	}
	if one, other := base().Fingerprint(), base().Fingerprint(); one != other || one != base().DeepCopy().Fingerprint() {
		t.Error("want the same fingerprint for the same content")
	}
	for reason, change := range map[string]func(*awsv1.IdentityView){
		"a rotated secret makes new clients":                func(i *awsv1.IdentityView) { i.Keys = awsv1.NewAccessKeys("a", "c", "") },
		"what moves between fields is not the same":         func(i *awsv1.IdentityView) { i.Keys = awsv1.NewAccessKeys("a", "", "b") },
		"no keys are the controller's own":                  func(i *awsv1.IdentityView) { i.Keys = awsv1.AccessKeys{} },
		"another role is another principal":                 func(i *awsv1.IdentityView) { i.Roles[0].ARN = "other" },
		"a session policy decides on what is allowed":       func(i *awsv1.IdentityView) { i.Roles[0].PolicyARNs = nil },
		"another object has budgets and metrics of its own": func(i *awsv1.IdentityView) { i.Name = "AWSClusterRoleIdentity/b" },
	} {
		changed := base()
		change(changed)
		if changed.Fingerprint() == base().Fingerprint() {
			t.Errorf("%s: want another fingerprint", reason)
		}
	}
	if !awsv1.NewAccessKeys("a", "b", "c").Equal(awsv1.NewAccessKeys("a", "b", "c")) ||
		awsv1.NewAccessKeys("a", "b", "").Equal(awsv1.AccessKeys{}) || !(awsv1.AccessKeys{}).Equal(awsv1.AccessKeys{}) {
		t.Error("want keys to be equal by what they hold")
	}
}

func TestReferenceToAWSIdentity(t *testing.T) {
	t.Parallel()
	got, err := awsv1.IdentityRefOf(untyped(t, `{kind: AWSManagedControlPlane, spec: {identityRef: {kind: AWSClusterRoleIdentity, name: a}}}`))
	if err != nil || got == nil || got.String() != "AWSClusterRoleIdentity/a" {
		t.Errorf("want AWSClusterRoleIdentity/a, got %v, %v", got, err)
	}
	if got, err = awsv1.IdentityRefOf(untyped(t, `{kind: AWSCluster, spec: {}}`)); got != nil || err != nil {
		t.Errorf("want no reference where none is, got %v, %v", got, err)
	}
	if _, err = awsv1.IdentityRefOf(untyped(t, `{kind: AWSCluster, spec: {identityRef: a}}`)); err == nil {
		t.Error("want a reference of another type refused: the controller's own credentials are no substitute")
	}
	parsed, err := awsv1.ParseIdentityReference("AWSClusterRoleIdentity/a")
	if err != nil || parsed != (awsv1.IdentityReference{Kind: awsv1.RoleIdentityKind, Name: "a"}) {
		t.Errorf("want what String wrote, got %v, %v", parsed, err)
	}
	if _, err = awsv1.ParseIdentityReference("a"); err == nil {
		t.Error("want an error for what is no reference")
	}
}

// TestNamespacesOfAWSIdentity holds the ecosystem's semantics.
func TestNamespacesOfAWSIdentity(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, reason, spec string
		byName             bool
		selector           string
		err                bool
	}{
		{name: "absent", reason: "without the field no namespace may", spec: `{}`},
		{name: "null", reason: "null is absence", spec: `{allowedNamespaces: null}`},
		{name: "empty", reason: "empty is everybody", spec: `{allowedNamespaces: {}}`, byName: true},
		{name: "as a typed client writes it", reason: "null lists and empty selectors are what empty looks like on the wire",
			spec: `{allowedNamespaces: {list: null, selector: {}}}`, byName: true},
		{name: "empty list", reason: "an empty list allows none", spec: `{allowedNamespaces: {list: []}}`},
		{name: "listed", reason: "a name is enough", spec: `{allowedNamespaces: {list: [other, ns]}}`, byName: true},
		{name: "not listed", reason: "others may not", spec: `{allowedNamespaces: {list: [other]}}`},
		{name: "selected", reason: "labels are looked at where names don't decide",
			spec: `{allowedNamespaces: {selector: {matchLabels: {a: b}}}}`, selector: "a=b"},
		{name: "empty selector", reason: "an empty selector selects nothing",
			spec: `{allowedNamespaces: {list: [other], selector: {matchLabels: {}}}}`},
		{name: "broken selector", reason: "what means nothing is said",
			spec: `{allowedNamespaces: {selector: {matchExpressions: [{key: a, operator: Maybe}]}}}`, err: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			source, err := awsv1.IdentitySourceOf(untyped(t, "{kind: AWSClusterStaticIdentity, spec: "+c.spec+"}"))
			if err != nil {
				t.Fatal(err)
			}
			selector, err := source.Allowed.Labels()
			if (err != nil) != c.err {
				t.Fatalf("%s: want an error: %v, got %v", c.reason, c.err, err)
			}
			words := ""
			if selector != nil {
				words = selector.String()
			}
			if got := source.Allowed.ByName("ns"); got != c.byName || words != c.selector {
				t.Errorf("%s: want by name %v and selector %q, got %v and %q", c.reason, c.byName, c.selector, got, words)
			}
		})
	}
}

func TestSourceOfAWSIdentity(t *testing.T) {
	t.Parallel()
	got, err := awsv1.IdentitySourceOf(untyped(t, `
kind: AWSClusterRoleIdentity
spec:
  allowedNamespaces: {list: [ns]}
  roleARN: arn:aws:iam::1:role/r
  sessionName: s
  durationSeconds: 900
  inlinePolicy: "{}"
  policyARNs: [arn:aws:iam::1:policy/p]
  externalID: e
  sourceIdentityRef: {kind: AWSClusterControllerIdentity, name: default}
`))
	want := awsv1.IdentitySource{
		Allowed: &common.AllowedNamespaces{List: []string{"ns"}}, RoleARN: "arn:aws:iam::1:role/r", SessionName: "s", DurationSeconds: 900,
		InlinePolicy: "{}",
		PolicyARNs:   []string{"arn:aws:iam::1:policy/p"}, ExternalID: "e",
		SourceIdentityRef: &awsv1.IdentityReference{Kind: awsv1.ControllerIdentityKind, Name: awsv1.ControllerIdentityName},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("want every field that is read (-want +got), %v:\n%s", err, diff)
	}
	if _, err := awsv1.IdentitySourceOf(untyped(t, `{kind: AWSClusterStaticIdentity, spec: {secretRef: {name: a}}}`)); err == nil {
		t.Error("want a field of another type refused")
	}
}
