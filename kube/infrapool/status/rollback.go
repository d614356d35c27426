package status

import (
	"fmt"
	"strings"

	"github.com/muster-project/muster/api/common"
	"github.com/muster-project/muster/engine/report"
)

const (
	// ReasonRolledBack is the reason of UpToDate while machines are launched from a former template.
	ReasonRolledBack = "RolledBack"
	// ReasonRollbackImpossible is that of a rollout that failed and can't be rolled back.
	ReasonRollbackImpossible = "RollbackImpossible"
)

// SetRollback records a return to a former template.
func SetRollback(s *common.Status, b *common.RollbackStatus) { s.Rollback = b }

// ReportRollback reports a return to a former template in UpToDate: its machines are not those that the specification asks for. One that is
// impossible holds replacements back, and is reported as every hold is.
func ReportRollback(b *common.RollbackStatus, rep *report.Report) {
	if b == nil || b.To == nil {
		return
	}
	for i := range rep.Conditions {
		if c := &rep.Conditions[i]; c.Type == report.UpToDate {
			text := fmt.Sprintf("rollout %s was rolled back to revision %d: %s; change the template, or retry with the annotation "+
				"muster.dev/retry: %s", b.Rollout, b.To.Number, failed(b.Message), b.Rollout)
			if b.Aborted {
				text = fmt.Sprintf("rollout %s was aborted and rolled back to revision %d; remove the annotation muster.dev/rollout to have "+
					"the specification rolled out", b.Rollout, b.To.Number)
			}
			if c.Status != report.True {
				text += "; " + c.Message
			}
			c.Status, c.Reason, c.Message = report.False, ReasonRolledBack, text
		}
	}
}

// failed returns why a rollout failed, without what the sentence around it says.
func failed(message string) string { return strings.TrimPrefix(message, "the rollout is halted: ") }
