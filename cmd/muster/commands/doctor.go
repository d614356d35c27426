package commands

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/muster-project/muster/providers/all"
	"github.com/muster-project/muster/view/doctor"
	"github.com/muster-project/muster/view/doctor/gather"
)

const (
	// problemsCode is the exit code of "muster doctor" with problems, and brokenCode the one when it cannot run.
	problemsCode, brokenCode exitCode = 1, 2
	// doctorTimeout bounds all requests of one run.
	doctorTimeout = 2 * time.Minute
)

// doctorCommand diagnoses an installation.
func doctorCommand() *cobra.Command {
	m, output, identities := &management{}, "text", ""
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Diagnose the installation in a management cluster, and list pools that are stuck",
		Long: `Compare a management cluster with the requirements of Muster: Cluster API, Muster's manager, definitions, other providers whose
controllers reconcile the same pools, feature gates, webhooks, rights, credentials, and pools that are not Ready. The command changes
nothing. It prints one line for each finding: OK, WARNING, PROBLEM or NOT CHECKED, the object, the fact, and the next action.

docs/doctor.md lists the findings.

Exit codes: 0 if no problem was found; 1 if a problem was found; 2 if the management cluster cannot be read.`,
		Example: `  muster doctor
  muster doctor --context production -o json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			report, err := examine(cmd.Context(), m, output, identities)
			if err == nil {
				err = printReport(cmd.OutOrStdout(), report, output)
			}
			if err != nil {
				_, _ = fmt.Fprintln(cmd.ErrOrStderr(), "error:", err)
				return brokenCode
			}
			if report.Problems > 0 {
				return problemsCode
			}
			return nil
		},
	}
	f := cmd.Flags()
	m.addFlags(f)
	f.StringVarP(&output, "output", "o", output, "Output format: text or json.")
	f.StringVar(&identities, "identity-namespace", "",
		"Namespace of the Secrets that cluster-scoped identities reference. If unspecified, the namespace of the manager.")
	return cmd
}

// examine reads the management cluster and runs the checks.
func examine(ctx context.Context, m *management, output, identities string) (doctor.Report, error) {
	ctrl.SetLogger(klog.Background())
	if err := textOrJSON(output); err != nil {
		return doctor.Report{}, err
	}
	at, err := m.find()
	if err != nil {
		return doctor.Report{}, err
	}
	c, err := at.client()
	if err != nil {
		return doctor.Report{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, doctorTimeout)
	defer cancel()
	installation, err := gather.Installation(ctx, gather.Options{
		Client: c, Providers: all.Providers(), Release: release, Local: at.simulated, IdentityNamespace: identities, Now: time.Now(),
	})
	if err != nil {
		return doctor.Report{}, at.reach(err)
	}
	return doctor.Examine(installation), nil
}

func printReport(w io.Writer, r doctor.Report, output string) error {
	if output == "json" {
		return doctor.JSON(w, r)
	}
	return doctor.Text(w, r)
}
