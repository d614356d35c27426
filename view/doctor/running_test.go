package doctor

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestControllers(t *testing.T) {
	t.Parallel()
	off := func(m *Manager) { m.Gates = map[string]bool{"MachinePool": false} }
	core := func(m *Manager) { m.Controllers = nil }
	other := func(on bool) Manager {
		return Manager{Provider: "infrastructure-cloud", Namespace: "c", Name: "m", Desired: 1, Ready: 1,
			Gates: map[string]bool{"MachinePool": on}}
	}
	managed := func(on bool) Manager {
		m := other(false)
		m.Gates["Managed"] = on
		return m
	}
	withManaged := someCloud()
	withManaged.Existing.ManagedGate, withManaged.Existing.ManagedVariable = "Managed", "EXP_MANAGED"
	const one = "Core MachinePool controller: "
	withoutGate, stopped := someCloud(), other(true)
	withoutGate.Existing.PoolGate, stopped.Desired = "", 0
	run(t, controllers, []row{
		{"upstream's, whose gate is on by default", Installation{Managers: []Manager{upstream(nil), muster(nil)}},
			[]string{"OK " + one + "runs in Deployment capi-system/"}},
		{"Muster's", Installation{Managers: []Manager{upstream(off), muster(core)}}, []string{"OK " + one + "runs in Deployment muster-system/"}},
		{"both", Installation{Managers: []Manager{upstream(nil), muster(core)}},
			[]string{"PROBLEM " + one + "runs in Deployment capi-system/capi-controller-manager and in"}},
		{"neither", Installation{Managers: []Manager{upstream(off), muster(nil)}}, []string{"PROBLEM " + one + "runs in no manager"}},
		{"upstream's was not found", Installation{Managers: []Manager{muster(nil)}}, []string{"NOT CHECKED " + one}},
		{"a world of muster up", Installation{Local: true}, []string{"OK " + one + "is Muster's"}},
		{"another provider runs the same kinds", Installation{Providers: []Provider{someCloud()},
			Managers: []Manager{upstream(nil), other(true)}},
			[]string{"OK " + one, "PROBLEM Deployment c/m: cluster-api-provider-cloud runs its controllers of pools too"}},
		{"another provider for clusters alone", Installation{Providers: []Provider{someCloud()},
			Managers: []Manager{upstream(nil), other(false)}},
			[]string{"OK " + one, "OK Deployment c/m: its controllers of pools are off"}},
		{"another provider with node pools that have a gate of their own",
			Installation{Providers: []Provider{withManaged}, Managers: []Manager{upstream(nil), managed(true)}},
			[]string{"OK " + one, "PROBLEM Deployment c/m: cluster-api-provider-cloud runs its controllers of pools too (Managed=true)"}},
		{"whose gate is off", Installation{Providers: []Provider{withManaged}, Managers: []Manager{upstream(nil), managed(false)}},
			[]string{"OK " + one, "OK Deployment c/m: its controllers of pools are off"}},
		{"whose gate is off by default", Installation{Providers: []Provider{withManaged}, Managers: []Manager{upstream(nil), other(false)}},
			[]string{"OK " + one, "OK Deployment c/m: its controllers of pools are off"}},
		{"another provider without a switch", Installation{Providers: []Provider{withoutGate}, Managers: []Manager{upstream(nil), other(true)}},
			[]string{"OK " + one, "PROBLEM Deployment c/m: cluster-api-provider-cloud runs its controllers of pools too, and has no switch"}},
		{"which does not run", Installation{Providers: []Provider{withoutGate}, Managers: []Manager{upstream(nil), stopped}},
			[]string{"OK " + one, "OK Deployment c/m: it does not run"}},
	})
}

func TestGates(t *testing.T) {
	t.Parallel()
	with := func(m Manager) Installation {
		return Installation{Providers: []Provider{someCloud()}, Managers: []Manager{m}, Pools: []Pool{{Kind: cloudPool}, {Kind: cloudPool}}}
	}
	const object = "Deployment muster-system/muster-controller-manager: "
	run(t, gates, []row{
		{"defaults", with(muster(nil)), []string{"OK " + object + "feature gates: the defaults"}},
		{"in the order of their names", with(muster(func(m *Manager) { m.Gates = map[string]bool{"B": false, "A": true} })),
			[]string{"OK " + object + "feature gates: A=true, B=false"}},
		{"all pools are off", with(muster(func(m *Manager) { m.Gates = map[string]bool{"MusterMachinePools": false} })),
			[]string{"PROBLEM " + object + "MusterMachinePools=false"}},
		{"the gate of a kind that has pools", with(muster(func(m *Manager) { m.Gates = map[string]bool{"Pools": false} })),
			[]string{"PROBLEM " + object + "Pools=false: 2 pools of kind CloudMachinePool are not run"}},
		{"its controller is not named", with(muster(func(m *Manager) { m.Controllers = []string{"webhook"} })),
			[]string{"PROBLEM " + object + "--controllers lacks cloudmachinepool"}},
		{"no pool needs it", Installation{Providers: []Provider{someCloud()},
			Managers: []Manager{muster(func(m *Manager) { m.Controllers = []string{"webhook"} })}}, []string{"OK " + object}},
	})
}

// authority returns a certificate that is its own authority, for an hour from noon on.
func authority(t *testing.T) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: noon, NotAfter: noon.Add(time.Hour), IsCA: true,
		BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

func TestWebhooks(t *testing.T) {
	t.Parallel()
	own, another := authority(t), authority(t)
	with := func(bundle []byte, s Service) Installation {
		s.Secret = "ns/secret"
		return Installation{Webhooks: []Configuration{{Object: "W", Exists: true, Calls: []Call{{Service: "ns/hooks", CABundle: bundle}}}},
			Services: map[string]Service{"ns/hooks": s}}
	}
	run(t, webhooks, []row{
		{"served and trusted", with(own, Service{Exists: true, Ready: 2, Certificate: own}),
			[]string{"OK W: calls service ns/hooks, webhooks: 1"}},
		{"a certificate of another authority", with(another, Service{Exists: true, Ready: 2, Certificate: own}),
			[]string{"PROBLEM W: caBundle does not trust the certificate in secret ns/secret"}},
		{"a bundle that is none", with([]byte("x"), Service{Exists: true, Ready: 2, Certificate: own}),
			[]string{"PROBLEM W: caBundle does not trust the certificate in secret ns/secret: it holds no"}},
		{"no bundle", with(nil, Service{Exists: true, Ready: 2, Certificate: own}), []string{"PROBLEM W: has no caBundle"}},
		{"no certificate yet", with(own, Service{Exists: true, Ready: 2}), []string{"PROBLEM W: secret ns/secret has no certificate"}},
		{"a secret that may not be read", with(own, Service{Exists: true, Ready: 2, SecretError: "forbidden"}),
			[]string{"NOT CHECKED W: calls service ns/hooks, webhooks: 1; its certificate was not read: forbidden"}},
		{"no ready address", with(own, Service{Exists: true, Certificate: own}),
			[]string{"PROBLEM W: calls service ns/hooks, which has no ready address"}},
		{"no service", with(own, Service{}), []string{"PROBLEM W: calls service ns/hooks, which does not exist"}},
		{"a URL", Installation{Webhooks: []Configuration{{Object: "W", Exists: true, Calls: []Call{{URL: "https://localhost:1/a"},
			{URL: "https://localhost:1/b"}}}}}, []string{"OK W: calls https://localhost:1, webhooks: 2"}},
		{"no object", Installation{Webhooks: []Configuration{{Object: "W"}}}, []string{"PROBLEM W: does not exist"}},
		{"one webhook is missing", Installation{Webhooks: []Configuration{{Object: "W", Exists: true, Missing: []string{"a.b"}}}},
			[]string{"PROBLEM W: lacks a.b"}},
	})
	if got := trusted(own, own, noon.Add(2*time.Hour)); got == "" {
		t.Error("want a certificate that has ended distrusted")
	}
}

func TestCredentials(t *testing.T) {
	t.Parallel()
	run(t, credentials, []row{
		{"the manager's own", Installation{Identities: []Identity{{Namespace: "n", Cluster: "c", Object: "CloudCluster c"}}},
			[]string{"OK Cluster n/c: CloudCluster c names no identity"}},
		{"an identity that can be used", Installation{Identities: []Identity{{Namespace: "n", Cluster: "c", Object: "CloudCluster c",
			Name: "Identity/i"}}},
			[]string{"OK Cluster n/c: CloudCluster c names Identity/i, which exists"}},
		{"a secret that does not exist", Installation{Identities: []Identity{{Namespace: "n", Cluster: "c", Reason: "IdentityMissing",
			Message: "secret a/b does not exist"}}},
			[]string{"PROBLEM Cluster n/c: IdentityMissing: secret a/b does not exist"}},
	})
}

func conditions(list ...metav1.Condition) []metav1.Condition { return list }

func TestPermissions(t *testing.T) {
	t.Parallel()
	refused := metav1.Condition{Type: "GroupReady", Status: metav1.ConditionFalse, Reason: "Denied", Message: "may not describe"}
	p := Pool{Namespace: "n", Name: "p", Kind: cloudPool, Exists: true}
	denied := p
	denied.Conditions = conditions(refused, metav1.Condition{Type: "Ready", Status: metav1.ConditionFalse, Reason: "Denied",
		Message: "may not describe"})
	run(t, permissions, []row{
		{"no pool, no account", Installation{Providers: []Provider{someCloud()}}, nil},
		{"what is not refused is not known", Installation{Providers: []Provider{someCloud()}, Pools: []Pool{p}}, []string{"NOT CHECKED Cloud: "}},
		{"a refusal, once", Installation{Providers: []Provider{someCloud()}, Pools: []Pool{denied}},
			[]string{"PROBLEM MachinePool n/p: may not describe", "NOT CHECKED Cloud: "}},
	})
}

func TestPools(t *testing.T) {
	t.Parallel()
	with := func(change func(*Pool)) Installation {
		p := Pool{Namespace: "n", Name: "p", Kind: cloudPool, Infrastructure: "i", Exists: true, Message: "1 of 2 machines are Ready",
			Conditions: conditions(metav1.Condition{Type: "Ready", Status: metav1.ConditionTrue})}
		change(&p)
		return Installation{Providers: []Provider{someCloud()}, Pools: []Pool{p}}
	}
	notReady := func(since time.Duration) []metav1.Condition {
		return conditions(metav1.Condition{Type: "Ready", Status: metav1.ConditionFalse, Reason: "Waiting",
			LastTransitionTime: metav1.NewTime(noon.Add(-since))})
	}
	const object = "MachinePool n/p: "
	run(t, pools, []row{
		{"Ready ones are counted", with(func(*Pool) {}), []string{"OK Pools: 1 Ready"}},
		{"not Ready for long", with(func(p *Pool) { p.Conditions = notReady(time.Hour) }),
			[]string{"PROBLEM " + object + "Ready is False (Waiting): 1 of 2 machines are Ready"}},
		{"not Ready for a short time", with(func(p *Pool) { p.Conditions = notReady(time.Minute) }),
			[]string{"WARNING " + object + "Ready is False (Waiting)"}},
		{"in error, whatever Ready says", with(func(p *Pool) {
			p.Message, p.Cause = "no such image", &metav1.Condition{Type: "UpToDate", Status: metav1.ConditionFalse, Reason: "Invalid"}
		}), []string{"PROBLEM " + object + "UpToDate is False (Invalid): no such image"}},
		{"no controller has looked", with(func(p *Pool) { p.Conditions = nil }), []string{"PROBLEM " + object + "has no condition Ready"}},
		{"no infrastructure object", with(func(p *Pool) { p.Exists = false }),
			[]string{"PROBLEM " + object + "CloudMachinePool i does not exist"}},
		{"paused", with(func(p *Pool) { p.Paused = true }), []string{"WARNING " + object + "is paused"}},
		{"another tool's group, at once", with(func(p *Pool) {
			p.Conditions = append(notReady(0), metav1.Condition{Type: "GroupReady", Status: metav1.ConditionFalse,
				Reason: "OwnershipConflict", Message: "group g has no tag"})
		}), []string{"PROBLEM " + object + "OwnershipConflict: group g has no tag"}},
		{"another provider's kind", with(func(p *Pool) { p.Kind.Kind, p.Exists = "OtherPool", false }), nil},
	})
}
