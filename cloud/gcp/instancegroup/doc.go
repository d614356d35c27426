// Package instancegroup runs pools on managed instance groups of Compute Engine, of one zone or of a region. Groups launch from instance
// templates whose names follow from what is in them; the update policy has Compute Engine replace nothing by itself.
package instancegroup
