package standintest_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	awsstandin "github.com/muster-project/muster/local/clouds/aws/standin"
	azurestandin "github.com/muster-project/muster/local/clouds/azure/standin"
	"github.com/muster-project/muster/local/foreign"
	"github.com/muster-project/muster/local/install"
)

// definitionServer is an API server that stores definitions, and lists the resources of each version that they serve.
type definitionServer struct {
	// late are the first reads of a version that do not list a resource yet, or nothing of the version if the resource is empty.
	late map[string]lateResource

	mu     sync.Mutex
	stored map[string]*apiextensionsv1.CustomResourceDefinition
	// reads counts the reads of each group and version.
	reads map[string]int
}

type lateResource struct {
	name  string
	reads int
}

// installed returns the server after the definitions of Muster, Cluster API and all clouds' providers were installed on it.
func installed(t *testing.T, webhook *install.Webhook, late map[string]lateResource) *definitionServer {
	t.Helper()
	s := &definitionServer{late: late, stored: map[string]*apiextensionsv1.CustomResourceDefinition{}, reads: map[string]int{}}
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	if err := install.Definitions(t.Context(), &rest.Config{Host: web.URL, QPS: -1}, webhook, others()...); err != nil {
		t.Fatal(err)
	}
	return s
}

// ServeHTTP answers discovery, and applies definitions.
func (s *definitionServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	const group, version = "apiextensions.k8s.io", "apiextensions.k8s.io/v1"
	var body any
	switch at := strings.TrimPrefix(r.URL.Path, "/apis/"); {
	case r.Method == http.MethodPatch:
		d := &apiextensionsv1.CustomResourceDefinition{}
		if err := json.NewDecoder(r.Body).Decode(d); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		s.stored[path.Base(at)], body = d, d
	case at == "/api":
		body = metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}}
	case at == "/apis":
		found := metav1.GroupVersionForDiscovery{GroupVersion: version, Version: "v1"}
		body = metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}, Groups: []metav1.APIGroup{
			{Name: group, Versions: []metav1.GroupVersionForDiscovery{found}, PreferredVersion: found}}}
	case at == version:
		body = resources(version, metav1.APIResource{Name: "customresourcedefinitions", Kind: "CustomResourceDefinition"})
	default:
		body = s.list(at)
	}
	w.Header().Set("Content-Type", "application/json")
	if missing, ok := body.(metav1.Status); ok {
		w.WriteHeader(int(missing.Code))
	}
	_ = json.NewEncoder(w).Encode(body)
}

func resources(version string, all ...metav1.APIResource) metav1.APIResourceList {
	list := metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}
	return metav1.APIResourceList{TypeMeta: list, GroupVersion: version, APIResources: all}
}

// list returns the resources of a version that the definitions serve.
func (s *definitionServer) list(at string) any {
	s.reads[at]++
	var all []metav1.APIResource
	for _, d := range s.stored {
		for _, v := range d.Spec.Versions {
			if v.Served && d.Spec.Group+"/"+v.Name == at {
				all = append(all, metav1.APIResource{Name: d.Spec.Names.Plural}, metav1.APIResource{Name: d.Spec.Names.Plural + "/status"})
			}
		}
	}
	late := s.late[at]
	if s.reads[at] <= late.reads {
		all = slices.DeleteFunc(all, func(r metav1.APIResource) bool { return late.name == "" || r.Name == late.name })
	}
	if len(all) == 0 {
		return apierrors.NewNotFound(schema.GroupResource{}, at).Status()
	}
	return resources(at, all...)
}

// TestConversion holds that a kind whose versions differ is converted by the webhook, or served only in its stored version without one.
// Otherwise the API server would change the version of an object without changing its fields.
func TestConversion(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason       string
		webhook      *install.Webhook
		wantStrategy apiextensionsv1.ConversionStrategyType
		wantServed   int
	}{
		{reason: "with a webhook", webhook: &install.Webhook{URL: "https://127.0.0.1:1", CA: []byte("the authority")},
			wantStrategy: apiextensionsv1.WebhookConverter, wantServed: 2},
		{reason: "without one", wantServed: 1},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			seen := map[string]bool{}
			for _, d := range installed(t, tc.webhook, nil).stored {
				checkConversion(t, d.Spec.Names.Kind, d.Spec, tc.wantStrategy, tc.wantServed)
				seen[d.Spec.Names.Kind] = true
			}
			for _, kind := range []string{"Cluster", "MachinePool", "KubeadmConfig", "AWSMachinePool", "LocalControlPlane", "AWSCluster",
				"AWSManagedCluster", "AWSManagedControlPlane", "AWSClusterStaticIdentity", "AzureCluster", "AzureClusterIdentity"} {
				if !seen[kind] {
					t.Errorf("want a definition of %s, got none", kind)
				}
			}
		})
	}
}

// TestClusterctlMoves holds that clusterctl move finds the objects of every kind, and identities, which belong to no Cluster, with what
// they own.
func TestClusterctlMoves(t *testing.T) {
	t.Parallel()
	for name, d := range installed(t, nil, nil).stored {
		if _, ok := d.Labels["clusterctl.cluster.x-k8s.io"]; !ok {
			t.Errorf("%s: want the label by which clusterctl finds its objects, got %v", name, d.Labels)
		}
		_, moved := d.Labels["clusterctl.cluster.x-k8s.io/move-hierarchy"]
		if identity := strings.HasPrefix(name, "awscluster") && strings.Contains(name, "identities."); moved != identity {
			t.Errorf("%s: want it moved with its hierarchy: %v, got %v", name, identity, moved)
		}
	}
}

// TestServedVersions: what discovery does not list yet is waited for, be it one kind of a version or the whole version. A version of a
// kind that is not served is not waited for.
func TestServedVersions(t *testing.T) {
	t.Parallel()
	const core, infrastructure = "cluster.x-k8s.io/v1beta2", "infrastructure.cluster.x-k8s.io/v1beta2"
	s := installed(t, nil, map[string]lateResource{core: {name: "machinepools", reads: 2}, infrastructure: {reads: 3}})
	for version, n := range s.reads {
		want := 1 + s.late[version].reads
		if n != want {
			t.Errorf("%s: want %d reads until all of it is served, got %d", version, want, n)
		}
	}
	if s.reads[core] == 0 || s.reads[infrastructure] == 0 {
		t.Errorf("want both versions waited for, got reads of %v", s.reads)
	}
	for _, v := range s.stored["machinepools.cluster.x-k8s.io"].Spec.Versions {
		if v.Served != (v.Name == "v1beta2") {
			t.Errorf("machinepools without a webhook in %s: want v1beta2 alone served, got %v", v.Name, v.Served)
		}
	}
}

// others returns the kinds of all clouds' providers.
func others() []foreign.Kind { return slices.Concat(awsstandin.Kinds(), azurestandin.Kinds()) }

// foreignKind returns a kind whose versions all have the same fields.
func foreignKind(kind string) bool {
	return slices.ContainsFunc(others(), func(k foreign.Kind) bool { return k.Kind == kind })
}

// unconverted are kinds of which all versions have the same fields: the API server converts them by itself.
var unconverted = []string{"AWSMachine", "AzureASOManagedMachinePool", "AzureASOManagedMachinePoolTemplate", "MachineDrainRule",
	"OCIMachinePoolMachine", "OCIVirtualMachinePool"}

func checkConversion(t *testing.T, kind string, spec apiextensionsv1.CustomResourceDefinitionSpec,
	wantStrategy apiextensionsv1.ConversionStrategyType, wantServed int) {
	t.Helper()
	if len(spec.Versions) == 1 || foreignKind(kind) || slices.Contains(unconverted, kind) {
		wantStrategy, wantServed = "", len(spec.Versions)
	}
	served := 0
	for _, v := range spec.Versions {
		if v.Served {
			served++
		} else if v.Storage {
			t.Errorf("%s: the stored version %s is not served", kind, v.Name)
		}
	}
	if served != wantServed {
		t.Errorf("%s: want %d versions served, got %d", kind, wantServed, served)
	}
	var got apiextensionsv1.ConversionStrategyType
	if spec.Conversion != nil {
		got = spec.Conversion.Strategy
	}
	if got != wantStrategy {
		t.Errorf("%s: want conversion %q, got %q", kind, wantStrategy, got)
	}
	if got == apiextensionsv1.WebhookConverter {
		c := spec.Conversion.Webhook.ClientConfig
		ca := base64.StdEncoding.EncodeToString([]byte("the authority"))
		if *c.URL != "https://127.0.0.1:1/convert" || base64.StdEncoding.EncodeToString(c.CABundle) != ca {
			t.Errorf("%s: want the webhook's own address and authority, got %s and %q", kind, *c.URL, c.CABundle)
		}
	}
}
