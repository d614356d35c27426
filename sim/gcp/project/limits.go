package project

// ComputePath is the pattern that all paths of Compute Engine begin with.
const ComputePath = "/compute/{version}/projects/{project}"

// The quotas of Compute Engine's requests, by which they are counted.
const (
	BucketRead      = "ReadRequests"
	BucketList      = "ListRequests"
	BucketWrite     = "Queries"
	BucketOperation = "OperationReadRequests"
	BucketWide      = "AggregatedListRequests"
)

// Limits are the documented requests a minute of a project, by quota: in each region, and for what is global.
var Limits = map[string]int{BucketRead: 1500, BucketList: 1500, BucketWrite: 1500, BucketOperation: 1500, BucketWide: 750}
