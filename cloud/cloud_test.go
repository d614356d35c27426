package cloud_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/muster-project/muster/cloud"
)

func TestResourceName(t *testing.T) {
	long := strings.Repeat("n", 253)
	for _, c := range []struct {
		name, reason string
		owner        cloud.Owner
		want         string
	}{
		{"a pool", "what exists in people's clouds is found again by this very name, whatever is released later",
			cloud.Owner{ID: "0d9f5c1e-6a49-4f6e-9f4c-1f1d6f9a2b3c", Cluster: "c", Namespace: "n", Name: "capa-mp-0"}, "capa-mp-0-64f030b9a1"},
		{"another cluster", "cluster and namespace are for people and change nothing, for objects may be moved",
			cloud.Owner{ID: "0d9f5c1e-6a49-4f6e-9f4c-1f1d6f9a2b3c", Cluster: "d", Namespace: "m", Name: "capa-mp-0"}, "capa-mp-0-64f030b9a1"},
		{"another owner", "two clusters may have a pool of one name in one account",
			cloud.Owner{ID: "other", Name: "capa-mp-0"}, "capa-mp-0-d9298a10d1"},
		{"a long name", "objects may have 253 letters, clouds take 128 and fewer",
			cloud.Owner{ID: "other", Name: long}, strings.Repeat("n", 100) + "-d9298a10d1"},
		{"a name of its own", "an existing group is taken over under the name that it has",
			cloud.Owner{ID: "other", Name: "capa-mp-0", GroupName: "legacy"}, "legacy"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.owner.ResourceName(); got != c.want {
				t.Errorf("%s: want %q, got %q", c.reason, c.want, got)
			}
		})
	}
}

func FuzzResourceName(f *testing.F) {
	f.Add("id", "name", "id2", "name2")
	f.Add("", "", "x", strings.Repeat("a", 300))
	f.Fuzz(func(t *testing.T, id, name, otherID, otherName string) {
		a, b := cloud.Owner{ID: id, Name: name}, cloud.Owner{ID: otherID, Name: otherName}
		if got := len(a.ResourceName()); got > 111 {
			t.Errorf("want at most 111 bytes, got %d", got)
		}
		if id != otherID && a.ResourceName() == b.ResourceName() {
			t.Errorf("want two owners apart, got %q for both", a.ResourceName())
		}
		if !strings.HasPrefix(a.ResourceName(), name[:min(len(name), 100)]+"-") {
			t.Errorf("want a name that people recognise as %q, got %q", name, a.ResourceName())
		}
	})
}

func TestProviderKey(t *testing.T) {
	const azure = "azure:///subscriptions/S/resourceGroups/RG/providers/Microsoft.Compute/virtualMachineScaleSets/mp/virtualMachines/0"
	for _, c := range []struct{ name, reason, id, want string }{
		{"AWS as the cloud provider writes it", "the usual form", "aws:///eu-west-1a/i-0abc", "aws://i-0abc"},
		{"AWS without zone", "older kubelets leave the zone empty", "aws:////i-0abc", "aws://i-0abc"},
		{"AWS short", "an instance is unique in its cloud", "aws:///i-0abc", "aws://i-0abc"},
		{"scheme in capitals", "schemes have no case", "AWS:///eu-west-1a/i-0abc", "aws://i-0abc"},
		{"blanks around it", "values come from files", " aws:///eu-west-1a/i-0abc\n", "aws://i-0abc"},
		{"AWS without an instance", "a zone is no instance: two unborn machines of a zone are not the same", "aws:///eu-west-1a/", ""},
		{"Azure", "the zone-like parts tell instances apart", azure, strings.ToLower("azure://" + azure[len("azure:///"):])},
		{"Azure in another case", "Azure's services do not agree on the case of one ID",
			strings.Replace(azure, "resourceGroups/RG", "resourcegroups/rg", 1), strings.ToLower("azure://" + azure[len("azure:///"):])},
		{"GCE", "names are unique only within project and zone", "gce://project/europe-west1-b/mp-x1y2", "gce://project/europe-west1-b/mp-x1y2"},
		{"GCE with one more slash", "repeated slashes do not count", "gce:///project//europe-west1-b/mp-x1y2",
			"gce://project/europe-west1-b/mp-x1y2"},
		{"OCI", "identifiers have a case", "oci://ocid1.instance.oc1.eu.AbC", "oci://ocid1.instance.oc1.eu.AbC"},
		{"OCI without scheme", "OKE's nodes and node pools name it so", "ocid1.instance.oc1.eu.AbC", "oci://ocid1.instance.oc1.eu.AbC"},
		{"OCI without a name", "the beginning of an identifier is none", "ocid1.", ""},
		{"OCI with more behind it", "an identifier has no parts", "ocid1.instance.oc1.eu.AbC/x", ""},
		{"Azure, a machine of a Flexible scale set", "it is a virtual machine like any other",
			"azure:///subscriptions/S/resourceGroups/RG/providers/Microsoft.Compute/virtualMachines/mp_1a2B",
			"azure://subscriptions/s/resourcegroups/rg/providers/microsoft.compute/virtualmachines/mp_1a2b"},
		{"Azure in capitals", "names of machines have no case either",
			"AZURE:///SUBSCRIPTIONS/s/RESOURCEGROUPS/rg/PROVIDERS/MICROSOFT.COMPUTE/VIRTUALMACHINES/MP_1A2B",
			"azure://subscriptions/s/resourcegroups/rg/providers/microsoft.compute/virtualmachines/mp_1a2b"},
		{"GCE in another zone", "one name in two zones is two instances", "gce://project/europe-west1-c/mp-x1y2",
			"gce://project/europe-west1-c/mp-x1y2"},
		{"GCE in a domain's project", "such projects have a colon in their names", "gce://example.com:project/europe-west1-c/mp-x1y2",
			"gce://example.com:project/europe-west1-c/mp-x1y2"},
		{"Scaleway, a server of another product", "the product is part of it", "scaleway://baremetal/fr-par-1/11111111-2222",
			"scaleway://baremetal/fr-par-1/11111111-2222"},
		{"Scaleway", "region and zone are part of it", "scaleway://instance/fr-par-1/11111111-2222",
			"scaleway://instance/fr-par-1/11111111-2222"},
		{"empty", "a machine without an ID matches nothing", "", ""},
		{"no scheme", "not a provider ID", "i-0abc", ""},
		{"scheme alone", "names no instance", "aws://", ""},
		{"slashes alone", "names no instance", "aws://////", ""},
		{"no scheme before the colon", "not a provider ID", "://i-0abc", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := cloud.ProviderKey(c.id); got != c.want {
				t.Errorf("%s: want %q for %q, got %q", c.reason, c.want, c.id, got)
			}
		})
	}
}

// holder keeps bootstrap data where fmt can call no method.
type holder struct{ inner cloud.Bootstrap }

func TestBootstrapNeverShowsItsData(t *testing.T) {
	secret := "#cloud-config token: abcdef.0123456789abcdef"
	b := cloud.NewBootstrap([]byte(secret), "cloud-config")
	if string(b.Data()) != secret || b.Format() != "cloud-config" || b.Empty() {
		t.Fatalf("want the data itself for the cloud, got %q of format %q", b.Data(), b.Format())
	}
	target := cloud.Target[string]{Bootstrap: b}
	values := map[string]any{
		"itself": b, "a pointer": &b, "a target": target, "a pointer to a target": &target, "a list": []cloud.Bootstrap{b},
		"a map": map[string]cloud.Bootstrap{"b": b}, "a field that fmt can't reach": holder{b}, "a pointer to such": &holder{b},
		"an error": fmt.Errorf("with %v", b),
	}
	for name, value := range values {
		for _, verb := range strings.Fields("%v %+v %#v %s %q %+q %#q %x %X %# %d %o %b %c %U %t %e %p %T %20v %.3s") {
			shown(t, name+" as "+verb, secret, fmt.Sprintf(verb, value))
		}
		text, err := json.Marshal(value)
		if err != nil {
			t.Errorf("%s as JSON: %v", name, err)
		}
		shown(t, name+" as JSON", secret, string(text))
	}
	for verb, want := range map[string]string{"%v": b.String(), "%#v": b.String(), "%s": "bootstrap data " + b.Hash()} {
		if got := fmt.Sprintf(verb, b); got != want {
			t.Errorf("want %q for %s, which tells two apart, got %q", want, verb, got)
		}
	}
}

// shown fails when the text holds the secret in any of the ways in which bytes are printed.
func shown(t *testing.T, how, secret, text string) {
	t.Helper()
	forms := []string{secret, secret[20:], base64.StdEncoding.EncodeToString([]byte(secret))[:20]}
	for _, verb := range []string{"%v", "%x", "%X", "%o", "%b", "%c", "%U", "%# x"} {
		forms = append(forms, strings.Trim(fmt.Sprintf(verb, []byte(secret)), "[]"))
	}
	forms = append(forms, strings.TrimSuffix(strings.TrimPrefix(fmt.Sprintf("%#v", []byte(secret)), "[]byte{"), "}"))
	for _, form := range forms {
		if strings.Contains(text, form) {
			t.Errorf("%s shows the data: %s", how, text)
		}
	}
}

func TestBootstrapHash(t *testing.T) {
	a, b := cloud.NewBootstrap([]byte("a"), "cloud-config"), cloud.NewBootstrap([]byte("b"), "cloud-config")
	if a.Hash() != "ca978112ca1b" {
		t.Errorf("want the hash that descriptions of versions hold in people's clouds, ca978112ca1b, got %s", a.Hash())
	}
	if a.Hash() == b.Hash() {
		t.Errorf("want two data apart, got %s for both", a.Hash())
	}
	for name, none := range map[string]cloud.Bootstrap{"zero": {}, "nil": cloud.NewBootstrap(nil, ""),
		"no bytes": cloud.NewBootstrap([]byte{}, "ignition")} {
		if !none.Empty() || none.Hash() != "" || len(none.Data()) != 0 {
			t.Errorf("want %s to be no data, got empty=%t, hash %q", name, none.Empty(), none.Hash())
		}
	}
}

func TestErrorText(t *testing.T) {
	for _, c := range []struct {
		name, reason string
		err          cloud.Error
		want         string
	}{
		{"everything", "call, field, code, words, in the order from far to near",
			cloud.Error{Kind: cloud.Invalid, Op: "autoscaling:Create", Field: "spec.minSize", Code: "ValidationError", Message: "too many"},
			"autoscaling:Create: spec.minSize: ValidationError: too many"},
		{"found before any call", "there is no call and no code", *cloud.Invalidf("spec.minSize", "is %d, allowed are 0 to %d", -1, 9),
			"spec.minSize: is -1, allowed are 0 to 9"},
		{"words alone", "nothing is put around them", cloud.Error{Kind: cloud.Unavailable, Message: "no answer"}, "no answer"},
		{"code alone", "some refusals have no words, and a colon before nothing looks as if something was lost",
			cloud.Error{Kind: cloud.Throttled, Op: "ec2:Run", Code: "RequestLimitExceeded"}, "ec2:Run: RequestLimitExceeded"},
		{"time to wait", "texts that change with time would make conditions flap",
			cloud.Error{Kind: cloud.Throttled, Code: "Throttling", Message: "Rate exceeded", After: 7 * time.Second}, "Throttling: Rate exceeded"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.err.Error(); got != c.want {
				t.Errorf("%s: want %q, got %q", c.reason, c.want, got)
			}
		})
	}
}

func TestKindOf(t *testing.T) {
	denied := &cloud.Error{Kind: cloud.Denied, Message: "no"}
	for _, c := range []struct {
		name, reason string
		err          error
		want         cloud.ErrorKind
	}{
		{"itself", "the plain case", denied, cloud.Denied},
		{"wrapped", "callers add what they wanted", fmt.Errorf("read the group: %w", denied), cloud.Denied},
		{"joined", "two calls may fail together", errors.Join(errors.New("x"), denied), cloud.Denied},
		{"of the network", "nothing is known about it, and it may have happened", errors.New("connection reset"), cloud.Unavailable},
		{"none", "asked by mistake it is not said to be a refusal", nil, cloud.Unavailable},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := cloud.KindOf(c.err); got != c.want {
				t.Errorf("%s: want %s, got %s", c.reason, c.want, got)
			}
		})
	}
}

// TestOwnerCheck: an owner ID that no tag holds is refused before the cloud is asked, with what was found and the limit.
func TestOwnerCheck(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"0f6f8d5e":               "",
		strings.Repeat("x", 256): "",
		"":                       "metadata.annotations[muster.dev/owner-id]: there is no owner ID",
		strings.Repeat("x", 257): "metadata.annotations[muster.dev/owner-id]: the owner ID has 257 characters, and tags of the cloud hold " +
			"256 at most",
	} {
		err := cloud.Owner{ID: id}.Check()
		if (err == nil) != (want == "") || err != nil && (!strings.HasPrefix(err.Error(), want) || cloud.KindOf(err) != cloud.Invalid) {
			t.Errorf("%d characters: want %q, got %v", len(id), want, err)
		}
	}
}
