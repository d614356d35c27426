package nodegroup

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/cloud/driverkit"
)

const (
	// maxUpdates bounds the updates that are listed: enough to count failures in a row.
	maxUpdates = 40
	// maxUpdatesPerPass bounds how many updates one pass reads, each in a call of its own.
	maxUpdatesPerPass = 12
)

// updateHistory holds the newest updates of a node group.
type updateHistory struct {
	// known are the updates by ID, as they were last read; those that have ended do not change any more.
	known map[string]updateRead
	// unread are IDs that were listed and not read yet.
	unread []string
	at     time.Time
	// busy is true if the group was being updated when they were read, creating if it was being created.
	busy, creating bool
	// refused is why EKS did not list or describe them; known is empty then.
	refused driverkit.Refusal
}

// updateRead is one update. EKS reports no end: ended is when it was first seen to have ended.
type updateRead struct {
	ekstypes.Update
	ended time.Time
}

// over reports whether an update has ended, successfully or not.
func (u updateRead) over() bool { return u.Status != ekstypes.UpdateStatusInProgress }

// quiet reports whether no update was running when the updates were read, and all were read.
func (h updateHistory) quiet() bool {
	return h.refused.Err == nil && !h.at.IsZero() && !h.busy && !h.running() && len(h.unread) == 0
}

// running reports whether an update had not ended.
func (h updateHistory) running() bool {
	for _, u := range h.known {
		if !u.over() {
			return true
		}
	}
	return false
}

// updates reads the group's updates as far as they may have changed.
func (r *reader) updates(ctx context.Context, is *ekstypes.Nodegroup) error {
	return updateReader{r.pass, is, &r.slow, &r.memory.updates}.read(ctx)
}

// updateReader reads the updates of one node group into its history.
type updateReader struct {
	*pass
	is      *ekstypes.Nodegroup
	slow    *session.SlowReads
	history *updateHistory
}

// read reads the updates when they may have changed: while one runs, when one has ended, when EKS shows that the group was changed, and
// once in a while. A group that is being deleted has none that matter.
func (r updateReader) read(ctx context.Context) error {
	if r.is.Status == ekstypes.NodegroupStatusDeleting {
		return nil // nothing is updated any more
	}
	known := r.history
	busy := r.is.Status == ekstypes.NodegroupStatusUpdating
	if known.refused.Rests(r.now, session.RefusedPeriod) || !busy && known.quiet() && !r.changed() {
		return nil
	}
	err := r.readAll(ctx, busy)
	if failed := known.refused.Keep(r.now, err); failed != nil || err == nil {
		return failed
	}
	*known = updateHistory{at: r.now, busy: busy, refused: known.refused}
	return nil
}

// changed reports whether updates may have begun or ended since they were read. EKS updates no group that it creates.
func (r updateReader) changed() bool {
	known := r.history
	if known.creating {
		known.at, known.creating = r.now, r.is.Status == ekstypes.NodegroupStatusCreating
	}
	changed := ptr.Deref(r.is.ModifiedAt, time.Time{}).After(known.at.Add(-session.SameMoment))
	return changed && r.now.Sub(known.at) > session.SameMoment || r.slow.Due(known.at, session.TracedPeriod)
}

// readAll lists the updates, and reads those that are not known to have ended, a few in each pass.
func (r updateReader) readAll(ctx context.Context, busy bool) error {
	known := r.history
	if len(known.unread) == 0 {
		if err := r.list(ctx); err != nil {
			return err
		}
	}
	known.at, known.busy, known.creating = r.now, busy, r.is.Status == ekstypes.NodegroupStatusCreating
	for n := 0; len(known.unread) > 0 && n < maxUpdatesPerPass; n++ {
		if err := r.readOne(ctx, known.unread[0]); err != nil {
			return err
		}
		known.unread = known.unread[1:]
	}
	return nil
}

// list lists the updates, and notes those that are not known to have ended.
func (r updateReader) list(ctx context.Context) error {
	pages := eks.NewListUpdatesPaginator(r.c.EKS.ListUpdates, &eks.ListUpdatesInput{Name: &r.t.eks, NodegroupName: &r.t.name})
	ids, err := session.Listed(ctx, pages, func(page *eks.ListUpdatesOutput) []string { return page.UpdateIds }, maxUpdates, r.now)
	if err != nil {
		if session.Absent(err) {
			return nil
		}
		return err
	}
	known := r.history
	kept := map[string]updateRead{}
	for _, id := range ids {
		read, ok := known.known[id]
		if ok {
			kept[id] = read
		}
		if !ok || !read.over() {
			known.unread = append(known.unread, id)
		}
	}
	known.known = kept
	return nil
}

// readOne reads one update.
func (r updateReader) readOne(ctx context.Context, id string) error {
	found, err := r.c.EKS.DescribeUpdate(ctx, &eks.DescribeUpdateInput{Name: &r.t.eks, NodegroupName: &r.t.name, UpdateId: &id})
	if err = session.Refusal(err, r.now); err != nil {
		if session.Absent(err) {
			return nil
		}
		return err
	}
	if found.Update != nil {
		r.history.learn(id, *found.Update, session.OurTime(found.Update.CreatedAt, found.ResultMetadata), r.is, r.now)
	}
	return nil
}

// learn notes an update. Its end is the group's last change if that was after its beginning, and stays what it was first seen to be.
func (h *updateHistory) learn(id string, u ekstypes.Update, created *time.Time, is *ekstypes.Nodegroup, now time.Time) {
	u.CreatedAt = created
	read := updateRead{Update: u}
	if read.over() {
		read.ended = ptr.Deref(created, time.Time{})
		if changed := ptr.Deref(is.ModifiedAt, time.Time{}); changed.After(read.ended) {
			read.ended = changed
		}
		if read.ended.After(now) {
			read.ended = now
		}
	}
	if h.known == nil {
		h.known = map[string]updateRead{}
	}
	h.known[id] = read
}
