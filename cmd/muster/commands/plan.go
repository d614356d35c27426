package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/muster-project/muster/kube/infrapool/identity"
	"github.com/muster-project/muster/kube/infrapool/preview"
	"github.com/muster-project/muster/local/clouds"
	"github.com/muster-project/muster/local/clouds/all"
	"github.com/muster-project/muster/local/seed"
	"github.com/muster-project/muster/local/world"
	"github.com/muster-project/muster/manager"
	"github.com/muster-project/muster/view/plan"
)

// movesCode is the exit code of --exit-code when machines would go.
const movesCode exitCode = 2

// planner is one run of "muster plan".
type planner struct {
	management

	files                      []string
	set                        []string
	output                     string
	applyAs, gates, identities string
	endpoints                  []string
	serverSide, exitCode       bool

	// simulated is true if the management cluster is that of a world.
	simulated bool
	// reach words errors of the management cluster.
	reach func(error) error
	in    io.Reader
	out   io.Writer
}

// planCommand tells what would become of pools.
func planCommand() *cobra.Command {
	p := &planner{}
	cmd := &cobra.Command{
		Use:   "plan [KIND/NAME] [-f FILE]... [--set PATH=VALUE]...",
		Short: "Tell which machines an edit would replace, in which waves and why, without doing it",
		Long: `Tell what would become of machine pools, without doing it: which instances would be replaced, in which waves, why, the lowest
number of Ready machines on the way, and which fields of the edit are the cause. With -f it is planned as if the files were
applied with kubectl apply, and for every pool that they concern; with --set as if fields had other values; with neither, what
is still to be done for a pool as it is.

The API server checks the edit in a dry run, the cloud is observed, and nothing is written anywhere. The cloud is reached as
the manager reaches it, by the settings and credentials of this environment; the simulated ones of a "muster up" are found by
its kubeconfig. Plans hold when nothing else happens meanwhile: drains that end, machines that join.

A path of --set is one of the named object; what a MachinePool does not have is taken for a field of its infrastructure object.
Values are YAML; null takes a field away.

Exit codes: 0; 1 when no plan could be made; with --exit-code, 2 when machines would be replaced or removed.`,
		Example: `  muster plan -f pool.yaml
  muster plan machinepool/workers
  muster plan machinepool/workers -n team-a --set spec.template.spec.version=v1.36.3
` + planExamples() + `  muster plan ` + all.Clouds()[0].Resources[0] +
			`/workers --set 'metadata.annotations[muster.dev/restart-now]=new kernel'`,
		Args: cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			p.in, p.out = cmd.InOrStdin(), cmd.OutOrStdout()
			return p.run(cmd.Context(), args)
		},
	}
	f := cmd.Flags()
	f.StringArrayVarP(&p.files, "file", "f", nil,
		"manifests that are planned as if they were applied: a file, a directory, or - for standard input; may be repeated")
	f.StringArrayVar(&p.set, "set", nil, "field that is planned with another value, as PATH=VALUE; may be repeated")
	f.StringVarP(&p.output, "output", "o", "text", "text or json")
	p.addNamespace(f, "namespace of the pool, and of manifests that name none")
	p.addFlags(f)
	f.BoolVar(&p.serverSide, "server-side", false, "plan the files as kubectl apply --server-side would apply them")
	f.StringVar(&p.applyAs, "field-manager", "kubectl", "field manager of --server-side")
	f.StringVar(&p.gates, gatesFlag, "", "feature gates that the controllers run with, for example SkipMachinePoolModelReconciliation=true "+
		"(default: as the environment has them)")
	f.StringVar(&p.identities, "identity-namespace", "",
		"namespace of the secrets that "+examples(func(h clouds.Help) string { return h.Identities })+" name (default: "+
			identity.DefaultNamespace+", where the manager runs)")
	p.addEndpoints(f)
	f.BoolVar(&p.exitCode, "exit-code", false, "end with exit code 2 when machines would be replaced or removed")
	return cmd
}

// run makes the plans and tells them.
func (p *planner) run(ctx context.Context, args []string) error {
	ctrl.SetLogger(klog.Background())
	request, err := p.request(args)
	if err != nil {
		return err
	}
	if err := p.connect(&request); err != nil {
		return err
	}
	if request.Manifests, err = p.manifests(); err != nil {
		return err
	}
	plans, err := plan.Build(ctx, request)
	if err != nil {
		return fmt.Errorf("plan: %w", p.reach(err))
	}
	tell := plan.Text
	if p.output == "json" {
		tell = plan.JSON
	}
	if err := tell(p.out, plans); err != nil {
		return fmt.Errorf("write the plan: %w", err)
	}
	for _, one := range plans {
		if p.exitCode && one.Moves() {
			return movesCode
		}
	}
	return nil
}

// request is what the command line asks for.
func (p *planner) request(args []string) (plan.Request, error) {
	r := plan.Request{Set: p.set}
	if err := textOrJSON(p.output); err != nil {
		return r, err
	}
	if p.serverSide {
		r.ApplyAs = p.applyAs
	}
	var err error
	if r.Kind, r.Name, err = named(args); err != nil {
		return r, err
	}
	switch {
	case r.Name == "" && len(p.files) == 0:
		return r, errors.New("want a pool (machinepool/NAME), or manifests (-f FILE), found neither")
	case r.Name == "" && len(p.set) > 0:
		return r, errors.New("--set: want the pool whose field it is (machinepool/NAME), found none")
	}
	return r, nil
}

// addEndpoints adds the flag that the manager has by the same name.
func (p *planner) addEndpoints(f *pflag.FlagSet) {
	f.StringSliceVar(&p.endpoints, identity.EndpointsFlag, nil,
		"addresses of clouds' APIs that secrets of identities may name, in addition to the public ones, as the manager has them")
}

// named takes KIND/NAME or KIND NAME apart.
func named(args []string) (kind, name string, err error) {
	if len(args) == 0 {
		return "", "", nil
	}
	kind, name, one := strings.Cut(args[0], "/")
	if len(args) == 2 && !one {
		name = args[1]
	}
	if kind == "" || name == "" || len(args) == 2 && one {
		return "", "", fmt.Errorf("want KIND/NAME, as in machinepool/workers, found %q", strings.Join(args, " "))
	}
	return kind, name, nil
}

// manifests reads the files: beside a world as "muster up" reads them, with their variables, otherwise as they are, as
// kubectl does.
func (p *planner) manifests() ([]*unstructured.Unstructured, error) {
	var objects []seed.Object
	sources, err := seed.Read(p.files, p.in)
	if err != nil {
		return nil, err
	}
	if p.simulated {
		objects, err = parse(simulatedClouds, sources)
	} else {
		objects, err = seed.Plain(sources)
	}
	if err != nil {
		return nil, err
	}
	var list []*unstructured.Unstructured
	for _, o := range objects {
		list = append(list, o.Unstructured)
	}
	return list, nil
}

// connect finds the management cluster, and makes what looks at pools.
func (p *planner) connect(r *plan.Request) error {
	at, err := p.find()
	if err != nil {
		return err
	}
	r.Namespace, p.simulated, p.reach = at.namespace, at.simulated, at.reach
	if r.Client, err = at.client(); err != nil {
		return err
	}
	if err := checkGates(p.gates); err != nil {
		return err
	}
	o := manager.Options{IdentityNamespace: p.identities}
	if o.IdentityEndpoints, err = identity.ParseEndpoints(p.endpoints); err != nil {
		return err
	}
	if o.Gates, err = manager.EnabledGates(); err != nil {
		return err
	}
	once := preview.ReadOnce(r.Client)
	r.Hub = manager.Hub(once)
	r.Planners, err = manager.Planners(once, preview.NewClusters(preview.ConnectBySecret(once)), o)
	return err
}

// reachSimulated points the clouds' SDKs at the simulated ones, and at nothing else, when the kubeconfig is a world's. It returns the
// folder of that world.
func reachSimulated(rules *clientcmd.ClientConfigLoadingRules) (string, error) {
	for _, file := range rules.GetLoadingPrecedence() {
		settings, ok, err := world.CloudsOf(file)
		if err != nil {
			return "", err
		}
		if ok {
			return filepath.Dir(file), only(settings)
		}
	}
	return "", nil
}

// only makes these settings of the clouds' SDKs the only ones of this process.
func only(settings []string) error {
	for _, e := range os.Environ() {
		name, _, _ := strings.Cut(e, "=")
		if !world.OfCloud(name) {
			continue
		}
		if err := os.Unsetenv(name); err != nil {
			return fmt.Errorf("leave out %s: %w", name, err)
		}
	}
	for _, e := range settings {
		name, value, _ := strings.Cut(e, "=")
		if err := os.Setenv(name, value); err != nil {
			return fmt.Errorf("set %s: %w", name, err)
		}
	}
	return nil
}
