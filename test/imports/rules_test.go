package imports

import "slices"

// rule restricts the direct imports of packages from outside the standard library. As rules hold for every package on the way, they also
// restrict transitive imports. Paths of the module are written without the module path. In a pattern, * matches one element of a path,
// possibly with a literal rest, and a final /... the path itself and everything below. $1 is the text that the first * of the rule's path
// matched. sdk($1) matches the modules of that cloud's SDK.
type rule struct {
	path string
	// only lists the allowed imports. never lists exceptions from it.
	only, never []string
	why         string
}

// sdks are the modules of the clouds' own SDKs, by the name of the cloud's folder. They may be imported below cloud/<name> alone.
var sdks = map[string][]string{
	"aws":   {"github.com/aws/aws-sdk-go-v2/...", "github.com/aws/smithy-go/..."},
	"azure": {"github.com/Azure/azure-sdk-for-go/..."},
	"gcp": {"google.golang.org/api/...", "google.golang.org/genproto/...", "google.golang.org/protobuf/...", "cloud.google.com/go/...",
		"golang.org/x/oauth2/..."},
	"oci":      {"github.com/oracle/oci-go-sdk/..."},
	"scaleway": {"github.com/scaleway/scaleway-sdk-go/..."},
}

// kubernetes are the client libraries of Kubernetes and Cluster API.
var kubernetes = []string{"k8s.io/...", "sigs.k8s.io/...", "github.com/blang/semver/v4", "golang.org/x/sync/...", "github.com/go-logr/logr"}

// server lists the packages that only the local world may depend on, because they take minutes to compile.
var server = []string{"k8s.io/kubernetes/...", "k8s.io/apiserver/...", "go.etcd.io/etcd/...", "local/..."}

// apiServers lists the packages with API servers and their controllers. Linking them costs a test binary six seconds.
var apiServers = []string{"local/apiserver", "local/controllers", "local/servers"}

// rules are ordered: the first one whose path matches applies to a package.
var rules = []rule{
	{path: "pool/...", only: []string{"pool/..."}, why: "every rule of the domain is a row in a table"},

	{path: "cloud", only: []string{"pool/..."}, why: "the contract names no cloud and no Kubernetes"},
	{path: "cloud/cache", only: []string{"cloud", "pool/..."}, why: "caches are the same for every cloud"},
	{path: "cloud/sweep", only: []string{"cloud", "pool/..."}, why: "shared reads are the same for every cloud"},
	{path: "cloud/driverkit/...", only: []string{"cloud", "cloud/cache", "cloud/sweep", "cloud/wire", "pool/..."},
		why: "one scaffold for every cloud"},
	{path: "cloud/wire", only: []string{"cloud", "golang.org/x/time/rate"}, why: "one transport for every cloud"},
	{path: "cloud/wire/refusal", only: []string{"cloud", "cloud/wire"}, why: "refusals of any cloud, by a table"},
	{path: "cloud/fields", why: "rows of any cloud"},
	{path: "cloud/metrics", only: []string{"cloud", "cloud/wire", "pool/...", "github.com/prometheus/client_golang/..."},
		why: "a decorator of the contract"},
	{path: "cloud/trace", only: []string{"cloud", "cloud/wire", "pool/...", "go.opentelemetry.io/otel/..."},
		why: "a decorator of the contract"},
	{path: "cloud/cloudtest", only: []string{"cloud", "cloud/fields", "pool/...", "sim", "github.com/google/go-cmp/..."},
		why: "the contract suite names no cloud"},
	{path: "cloud/azure/agentpool/body", only: []string{"cloud", "cloud/fields", "api/common", "api/azure/..."},
		why: "pure functions over JSON documents"},
	{path: "cloud/*/...", only: []string{"cloud", "cloud/$1/...", "cloud/driverkit/...", "cloud/fields", "cloud/cache", "cloud/sweep",
		"cloud/wire/...", "pool/...", "api/common", "api/$1/...", "k8s.io/utils/ptr", "sdk($1)"},
		why: "each cloud can be written and read alone; of Kubernetes only what reads the optional fields of SDKs, which depends on nothing"},

	{path: "engine/...", only: []string{"engine/...", "cloud", "pool/...", "go.opentelemetry.io/otel/..."},
		why: "whole scenarios run without an API server"},

	{path: "api/common", only: []string{"k8s.io/api/core/v1", "k8s.io/apimachinery/..."}, why: "types are imported by everything"},
	{path: "api/crd", why: "types are imported by everything"},
	{path: "api/*/...", only: []string{"api/common", "api/$1/...", "k8s.io/apimachinery/...", "sigs.k8s.io/cluster-api/api/...",
		"sigs.k8s.io/controller-runtime/pkg/conversion"},
		why: "types are imported by everything, and those of one cloud are read alone"},

	{path: "kube/machinepool/contract", only: kubernetes, never: server, why: "what the contract of Cluster API demands of any provider"},
	{path: "kube/machinepool/status", only: kubernetes, never: server, why: "each condition is a pure function"},
	{path: "kube/machinepool/reference", only: core([]string{"kube/control"}, "contract", "status"), never: server,
		why: "reads and owns the objects that a pool names, of any kind"},
	{path: "kube/machinepool/members", only: core([]string{"cloud", "kube/nodes", "kube/control"}, "contract", "reference", "status"),
		never: server, why: "reads the Machines of a pool and writes nothing"},
	{path: "kube/machinepool/nodesync", only: core([]string{"cloud", "kube/kubeconfig", "kube/nodes", "kube/control"}, "members", "status"),
		never: server, why: "finds and writes Nodes"},
	{path: "kube/machinepool/machinesync", only: core([]string{"kube/machines", "kube/control"}, "members", "reference", "status"),
		never: server, why: "writes Machines"},
	{path: "kube/machinepool", only: kubed("kube/machinepool/*", "cloud/trace"), never: server,
		why: "the core runs with any provider's infrastructure kinds"},
	{path: "kube/machinepool/*", why: "tests only"},
	{path: "kube/infrapool/preview", only: kubed("pool/..."), never: server, why: "what a plan sees of any pool"},
	{path: "kube/infrapool/stored", only: kubed("pool/..."), never: server, why: "values on an object"},
	{path: "kube/infrapool/revision", only: kubed("api/common"), never: server, why: "templates of any pool, and where they are kept"},
	{path: "kube/infrapool/settings", only: kubed("kube/infrapool/stored", "engine/report", "pool/..."), never: server,
		why: "annotations in, values out"},
	{path: "kube/infrapool/status", only: kubed("kube/infrapool/settings", "api/common", "cloud", "engine/...", "pool/..."), never: server,
		why: "each condition and event is a pure function of what was observed"},
	{path: "kube/infrapool/identity", only: kubed("kube/infrapool/stored", "kube/machinepool/contract", "api/common",
		"api/muster/...", "pool/..."), never: server,
		why: "reads the credentials of any cloud and what operators allow, and calls none"},
	{path: "kube/infrapool/ownership", only: kubed("kube/infrapool/stored", "cloud"), never: server,
		why: "decides by objects and tags; the cloud is asked by the reconciler"},
	{path: "kube/infrapool/watch", only: kubed("kube/infrapool/identity", "kube/infrapool/ownership"), never: server,
		why: "maps objects to objects"},
	{path: "kube/infrapool/bootstrap", only: kubed("kube/infrapool/stored", "kube/infrapool/watch", "kube/machinepool/contract", "cloud",
		"pool/..."), never: server,
		why: "data and tokens of any cloud"},
	{path: "kube/infrapool/workload", only: kubed("engine", "pool/..."), never: server, why: "a workload cluster is the same for every cloud"},
	{path: "kube/infrapool", only: kubed(append(slices.Clone(parts), "kube/machinepool/contract", "api/common", "cloud", "cloud/trace",
		"engine/...", "kube/policy/limiter", "kube/policy/gates", "kube/policy/gates/*", "kube/policy", "kube/policy/calendar", "api/muster/...",
		"pool/...")...), never: server,
		why: "one reconciler for all kinds; it runs under any core"},
	{path: "kube/infrapool/passtest", only: append(adapter(""), "api/muster/..."), never: server, why: "what tests of whole passes run on"},
	{path: "kube/policy/gates/address", why: "decides by texts and IP addresses alone"},
	{path: "kube/policy/gates/approval", why: "annotations in, approvals out"},
	{path: "kube/policy/gates", only: append([]string{"api/muster/...", "kube/policy/gates/approval", "pool/rollouts"}, kubernetes...),
		never: server,
		why:   "answers in, states out"},
	{path: "kube/policy/gates/health", only: append([]string{"kube/policy/gates"}, kubernetes...), never: server,
		why: "an object in, a sample out"},
	{path: "kube/policy/gates/success", only: []string{"kube/policy/gates", "github.com/google/cel-go/..."},
		why: "an expression and numbers in, a sample out"},
	{path: "kube/policy/gates/prometheus", only: []string{"kube/policy/gates", "kube/policy/gates/address", "api/common"},
		why: "one request to a stranger, with nothing of the manager's own"},
	{path: "kube/policy/gates/*", only: kubed("kube/policy/gates", "kube/policy/gates/*", "api/common", "api/muster/..."), never: server,
		why: "gates are asked outside of reconcilers"},
	{path: "kube/webhook/checks", only: kubernetes, never: server, why: "what admission checks of all kinds"},
	{path: "kube/webhook", only: kubed("kube/machinepool/contract", "kube/policy/gates/approval", "api/...", "cloud"), never: server,
		why: "webhooks of infrastructure kinds are handed in"},
	{path: "kube/policy/calendar", why: "a pure function of policies and a time"},
	{path: "kube/policy/admission", only: kubed("kube/policy", "kube/policy/calendar", "kube/policy/gates/success",
		"kube/webhook", "api/muster/..."), never: server,
		why: "refuses what the schema of policies can't express"},
	{path: "kube/policy/limiter", only: kubed("kube/policy", "kube/policy/calendar", "kube/policy/gates", "kube/policy/gates/*",
		"api/muster/...",
		"pool/rollouts"), never: server, why: "policies, gates and other pools in, limits out"},
	{path: "kube/policy/status", only: kubed("kube/policy", "api/muster/..."), never: server, why: "a policy in, its status out"},
	{path: "kube/policy", only: kubed("kube/policy/calendar", "api/muster/...", "pool/rollouts"), never: server,
		why: "policies in, values out; which pools they hold back is decided by pool"},
	{path: "kube/definitions", only: append([]string{"api/crd", "github.com/prometheus/client_golang/..."}, kubernetes...), never: server,
		why: "what was installed against what this build comes with"},
	{path: "kube/*", only: kubed("cloud", "cloud/trace", "engine", "pool/...", "kube/machinepool/contract",
		"github.com/prometheus/client_golang/..."), never: server,
		why: "the parts that both controllers use know neither"},

	{path: "view/doctor/gather", only: kubed("view", "view/doctor", "api/crd", "api/muster/...", "config", "providers", "kube/infrapool",
		"kube/infrapool/identity", "kube/machinepool/contract", "kube/webhook"), never: server,
		why: "facts of a management cluster; what names a cloud is handed in"},
	{path: "view/doctor", only: kubed("cloud"), never: server, why: "facts in, findings out"},
	{path: "view/accounts", only: []string{"github.com/prometheus/..."}, why: "rates of counters"},
	{path: "view/rollout", only: kubed("view", "view/plan", "view/tree", "api/common", "kube/infrapool", "kube/infrapool/revision",
		"kube/infrapool/settings", "kube/infrapool/stored", "kube/policy", "kube/policy/gates/approval", "pool/..."), never: server,
		why: "objects in, a status and changes out"},
	{path: "view/...", only: kubed("view/...", "api/common", "api/crd", "api/muster/...",
		"kube/infrapool", "kube/infrapool/bootstrap", "kube/infrapool/preview", "kube/policy",
		"pool/...", "engine/..."), never: server, why: "drivers are handed in"},

	{path: "providers/gates", only: append([]string{"github.com/spf13/pflag"}, kubernetes...), never: server, why: "flags"},
	{path: "providers", only: kubed("providers/gates", "cloud", "cloud/metrics", "cloud/trace", "cloud/wire", "kube/infrapool",
		"kube/infrapool/identity", "kube/infrapool/preview", "kube/webhook",
		"github.com/spf13/pflag", "go.opentelemetry.io/otel/..."), never: server,
		why: "a description of any cloud"},
	{path: "providers/all", only: []string{"providers", "providers/*", "kube/webhook"}, why: "a list"},
	{path: "providers/*/permissions", why: "documents that every binary embeds"},
	{path: "providers/*/$1*", only: adapter("$1"), never: server, why: "an adapter knows the API of one cloud, and no SDK"},
	{path: "providers/*/...", only: kubed("providers", "providers/gates", "providers/$1/...", "api/common", "api/$1/...", "cloud/$1/...",
		"kube/infrapool", "kube/infrapool/identity", "kube/infrapool/settings", "kube/infrapool/watch",
		"kube/webhook", "kube/webhook/*", "github.com/spf13/pflag", "golang.org/x/crypto/ssh"), never: server,
		why: "the only place that names a cloud's drivers and adapters together"},
	{path: "manager/tracing", only: []string{"github.com/spf13/pflag", "go.opentelemetry.io/..."}, why: "the only place that exports spans"},
	{path: "manager/flags", only: kubed("manager", "manager/page", "manager/tracing", "providers/all", "providers/gates",
		"kube/infrapool/identity", "kube/policy/gates/address", "kube/policy/gates/health",
		"kube/webhook", "github.com/spf13/pflag"), never: server, why: "a command line of manager's options"},
	{path: "manager/page", only: kubed("view", "view/...", "kube/access", "github.com/prometheus/..."), never: server,
		why: "a page of any cloud, behind the API server's authentication"},
	{path: "manager", only: kubed("manager/page", "view/...", "providers", "providers/all", "providers/gates", "api/common", "api/muster/...",
		"cloud/metrics",
		"cloud/trace",
		"kube/...",
		"github.com/spf13/pflag", "go.opentelemetry.io/...",
		"github.com/open-policy-agent/cert-controller/..."),
		never: server, why: "the production manager holds no API server and no simulator"},
	{path: "cmd/manager", only: kubed("manager/...", "github.com/spf13/pflag"), never: server,
		why: "the production manager holds no API server and no simulator"},

	{path: "sim", why: "a simulator that can't import the driver can't agree with it by accident"},
	{path: "sim/nodes/...", only: []string{"sim", "sim/nodes/...", "k8s.io/...", "sigs.k8s.io/yaml"}, never: server,
		why: "machines boot and join as Kubernetes has it, without Muster"},
	{path: "sim/evidence", only: []string{"sim"}, why: "rows of any simulator"},
	{path: "sim/*/...", only: []string{"sim", "sim/core", "sim/core/shapes", "sim/document", "sim/evidence", "sim/fleet", "sim/managed",
		"sim/$1/..."},
		why: "a simulator that can't import the driver can't agree with it by accident"},

	{path: "local/apiserver/...", only: append([]string{"local/apiserver", "local/pki", "go.etcd.io/etcd/...", "go.uber.org/zap/...",
		"github.com/spf13/pflag"}, kubernetes...),
		why: "an API server knows nothing of pools"},
	{path: "local/world", only: append([]string{
		"local/*", "local/clouds/all", "manager/...", "sim", "sim/nodes", "api/local/...", "go.etcd.io/etcd/...", "golang.org/x/...",
		"github.com/spf13/pflag",
	}, kubernetes...), never: apiServers, why: "a supervisor starts the API servers and isn't linked with them"},
	{path: "local/children", only: append([]string{"local/*", "local/clouds/all", "manager/...", "sim", "view/page", "api/local/...",
		"github.com/spf13/pflag"},
		kubernetes...), why: "the only package of the local world that runs Muster's controllers"},
	{path: "local/clouds", only: append([]string{"local/foreign", "local/seed", "local/workload", "sim"}, kubernetes...),
		why: "a description of any cloud"},
	{path: "local/clouds/all", only: []string{"local/clouds", "local/clouds/*", "local/foreign", "local/seed"}, why: "a list"},
	{path: "local/clouds/*/...", only: append([]string{"local/*", "local/clouds/$1/...", "sim", "sim/$1/...", "api/$1/..."}, kubernetes...),
		never: append([]string{"local/world", "local/children"}, apiServers...),
		why:   "what stands in for other providers' controllers knows nothing of Muster's, and one cloud nothing of another"},
	{path: "local/managedplane", only: append([]string{"local/fields", "local/objects", "local/workload", "sim"}, kubernetes...),
		why: "a frame for any cloud that runs control planes"},
	{path: "local/...", only: append([]string{"local/...", "api/crd", "api/local/...", "kube/skew", "golang.org/x/..."}, kubernetes...),
		never: []string{"local/world", "local/children", "local/clouds/..."},
		why:   "what stands in for other providers' controllers knows nothing of Muster's, and no cloud"},
	{path: "cmd/muster/screen", only: []string{"view", "golang.org/x/..."}, why: "a terminal shows what the views make of objects"},
	{path: "cmd/muster", only: append([]string{"cmd/muster/commands", "local/children", "github.com/spf13/..."}, kubernetes...),
		never: []string{"k8s.io/kubernetes/..."}, why: "kubectl beside the other commands"},
	{path: "cmd/muster/commands", only: append([]string{
		"cmd/muster/screen", "kube/infrapool/identity", "kube/infrapool/preview", "pool/...", "local/*", "local/clouds/all", "manager/...",
		"providers", "providers/all", "sim", "view/...", "golang.org/x/...", "github.com/spf13/...",
	}, kubernetes...), never: append([]string{"k8s.io/kubernetes/...", "go.etcd.io/etcd/...", "local/children"}, apiServers...),
		why: "commands are thin"},

	{path: "config/..."}, {path: "docs/..."}, {path: "templates/..."},
	{path: "test/explore/record", only: []string{"cloud", "pool/...", "test/explore/oracle"}, why: "what was seen, in no world"},
	{path: "test/explore/workload", only: kubed("cloud", "sim", "test/explore/oracle", "test/memapi"),
		why: "a cluster's nodes and pods, whatever runs its machines"},
	{path: "test/explore/apifault", only: kubed("test/memapi"), why: "what API servers do, in no world"},
	{path: "test/explore/machinecontroller", only: kubed("cloud", "test/explore/workload", "test/memapi"),
		why: "cluster-api's side, whatever runs the machines"},
	{path: "test/explore/script", only: kubed("api/common", "kube/infrapool/watch", "sim", "test/explore/apifault",
		"test/explore/machinecontroller"), why: "what happens is data, whatever plays it"},
	{path: "test/explore/world", only: kubed(append(slices.Clone(parts),
		"api/common", "api/muster/...", "cloud", "cloud/wire", "kube/infrapool",
		"kube/machinepool", "kube/policy", "kube/policy/limiter", "pool/...", "sim", "test/explore/machinecontroller",
		"test/explore/oracle", "test/explore/questions", "test/explore/record", "test/explore/script", "test/explore/workload",
		"test/explore/apifault", "test/memapi",
		"view/plan")...),
		why: "what is of one kind of pool is in a folder of test/explore/kinds"},
	{path: "hack/...", only: []string{"..."}}, {path: "test/...", only: []string{"..."}, why: "tests and tools may import anything"},
}

// shared are the packages of kube that know neither controller.
var shared = []string{"kube/access", "kube/control", "kube/definitions", "kube/drain", "kube/kubeconfig", "kube/machines", "kube/metrics",
	"kube/nodes", "kube/skew", "kube/tokens"}

// parts are the packages of the reconciler of infrastructure kinds, which know no kind.
var parts = []string{
	"kube/infrapool/bootstrap", "kube/infrapool/identity", "kube/infrapool/ownership",
	"kube/infrapool/preview", "kube/infrapool/revision", "kube/infrapool/settings",
	"kube/infrapool/status",
	"kube/infrapool/stored", "kube/infrapool/watch", "kube/infrapool/workload",
}

// kubed adds the shared packages of kube and the client libraries of Kubernetes.
func kubed(only ...string) []string { return slices.Concat(only, shared, kubernetes) }

// core adds the named packages below kube/machinepool and the client libraries of Kubernetes.
func core(others []string, below ...string) []string {
	all := append(slices.Clone(others), kubernetes...)
	for _, name := range below {
		all = append(all, "kube/machinepool/"+name)
	}
	return all
}

// adapter returns the packages that the adapters of a cloud's kinds may import.
func adapter(name string) []string {
	return kubed(append(slices.Clone(parts), "kube/infrapool", "providers/"+name+"/"+name+"*", "api/common", "api/"+name+"/...", "engine/...",
		"pool/...")...)
}
