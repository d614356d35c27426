package infrapool_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/kube/machines"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/providers/aws/awsmachinepool"
)

func TestAMachineSaysWhetherItIsUpToDate(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason            string
		launched, wanted  pool.Template
		differs           []string
		status, reasoning string
	}{
		"same": {"the content counts, not the version's number or its data", pool.Template{Ref: "1", Content: "v1:a", Data: "x"},
			pool.Template{Content: "v1:a", Data: "y"}, nil, "True", ""},
		"other": {"it will be replaced", pool.Template{Content: "v1:a"}, pool.Template{Content: "v1:b"}, nil, "False",
			"instance i-1 was launched from another template than the pool asks for"},
		"other, how": {"the fields are told where they are known", pool.Template{Content: "v1:a"}, pool.Template{Content: "v1:b"},
			[]string{"spec.ami"}, "False", "instance i-1 was launched from another template than the pool asks for, which differs in spec.ami"},
		"unknown": {"nothing is asserted of an unknown template", pool.Template{}, pool.Template{Content: "v1:b"}, nil, "Unknown",
			"what instance i-1 was launched from is not known"},
		"none wanted": {"what was said last stands while the specification can't be translated", pool.Template{Content: "v1:a"}, pool.Template{},
			nil, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := &awsv1.AWSMachine{}
			awsmachinepool.Adapter{}.Kind().Machines.FillStatus(m, machines.Seen{Wanted: tc.wanted,
				Instance: pool.Instance{ID: "i-1", State: pool.Running, Template: tc.launched, TemplateDiff: tc.differs}})
			status, message := "", ""
			if c := meta.FindStatusCondition(m.Status.Conditions, clusterv1.MachineUpToDateCondition); c != nil {
				status, message = string(c.Status), c.Message
			}
			if status != tc.status || message != tc.reasoning {
				t.Errorf("%s: want %q %q, got %q %q", tc.reason, tc.status, tc.reasoning, status, message)
			}
		})
	}
}
