package commands

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/kube/infrapool/identity"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/view/plan"
)

// adopter is one run of "muster adopt".
type adopter struct {
	planner
	group           string
	dryRun, replace bool
}

// adoptCommand has a pool take over the group of another tool.
func adoptCommand() *cobra.Command {
	a := &adopter{}
	cmd := &cobra.Command{
		Use:   "adopt KIND/NAME [--group NAME] [--dry-run]",
		Short: "Adopt a pool's group that another provider created, without replacing machines",
		Long: `Adopt the group of a machine pool that another provider created. The command first prints the plan of the adoption: the cloud
objects that get the pool's owner tags, the fields of the group that are changed in place, and the machines that would be replaced, if any.
It then sets the annotation ` + pool.AdoptAnnotation + ` on the MachinePool, and the controller writes the tags. With --dry-run, it sets
nothing.

If machines would be replaced, the annotation is set only with --allow-replacement.

docs/migrating.md describes the migration from another provider, and back.`,
		Example: `  muster adopt machinepool/workers --dry-run
  muster adopt machinepool/workers --group default_workers -n team-a`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			a.in, a.out = cmd.InOrStdin(), cmd.OutOrStdout()
			return a.run(cmd.Context(), args)
		},
	}
	f := cmd.Flags()
	f.StringVar(&a.group, "group", "", "Name of the group in the cloud. If unspecified, the name of the pool.")
	f.BoolVar(&a.dryRun, "dry-run", false, "Print the plan of the adoption without setting the annotation.")
	f.BoolVar(&a.replace, "allow-replacement", false, "Adopt the group even if machines would be replaced afterwards.")
	f.StringVarP(&a.output, "output", "o", "text", "Output format: text or json.")
	a.addNamespace(f, "Namespace of the pool.")
	a.addFlags(f)
	f.StringVar(&a.gates, gatesFlag, "",
		"Feature gates of the controllers. If unspecified, they are read from the environment variables of clusterctl.")
	f.StringVar(&a.identities, "identity-namespace", "",
		"Namespace of the Secrets that identities reference. If unspecified, "+identity.DefaultNamespace+".")
	a.addEndpoints(f)
	return cmd
}

// run prints the plan of the adoption, and sets the annotation.
func (a *adopter) run(ctx context.Context, args []string) error {
	ctrl.SetLogger(klog.Background())
	request, err := a.adoption(args)
	if err != nil {
		return err
	}
	if err := a.connect(&request); err != nil {
		return err
	}
	plans, err := plan.Build(ctx, request)
	if err != nil {
		return fmt.Errorf("plan the adoption: %w", a.reach(err))
	}
	return a.apply(ctx, request.Client, plans)
}

// adoption returns the request for the plan of the adoption.
func (a *adopter) adoption(args []string) (plan.Request, error) {
	kind, name, err := named(args)
	if err != nil {
		return plan.Request{}, err
	}
	if a.group == "" {
		a.group = name
	}
	value, err := json.Marshal(a.group) // --set reads YAML
	if err != nil {
		return plan.Request{}, fmt.Errorf("encode --group: %w", err)
	}
	a.set = []string{fmt.Sprintf("metadata.annotations[%s]=%s", pool.AdoptAnnotation, value)}
	return a.request([]string{kind + "/" + name})
}

// apply prints the plan, and sets the annotation if it adopts the group and replaces no machine.
func (a *adopter) apply(ctx context.Context, c client.Client, plans []plan.Plan) error {
	write := plan.Text
	if a.output == "json" {
		write = plan.JSON
	}
	if err := write(a.out, plans); err != nil {
		return fmt.Errorf("write the plan: %w", err)
	}
	p := plans[0]
	switch {
	case p.Adoption == nil:
		return fmt.Errorf("nothing to adopt: the plan says why group %q is not taken over, or the pool owns its group; name another group with "+
			"--group", a.group)
	case a.dryRun:
		return nil
	case p.Moves() && !a.replace:
		return errors.New("machines would be replaced or removed after the adoption: correct the specification, or accept it with " +
			"--allow-replacement")
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]string{pool.AdoptAnnotation: a.group}}})
	if err != nil {
		return fmt.Errorf("encode the annotation: %w", err)
	}
	mp := &clusterv1.MachinePool{}
	mp.Namespace, mp.Name = p.Namespace, p.Name
	if err := c.Patch(ctx, mp, client.RawPatch(types.MergePatchType, patch)); err != nil {
		return fmt.Errorf("set the annotation of MachinePool %s/%s: %w", p.Namespace, p.Name, err)
	}
	if a.output == "json" {
		return nil
	}
	if _, err := io.WriteString(a.out, fmt.Sprintf("\nSet %s: %s on MachinePool %s/%s. GroupReady of %s %s tells when it is adopted.\n",
		pool.AdoptAnnotation, a.group, p.Namespace, p.Name, p.Infrastructure.Kind, p.Infrastructure.Name)); err != nil {
		return fmt.Errorf("write the outcome: %w", err)
	}
	return nil
}
