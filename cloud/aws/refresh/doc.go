// Package refresh handles the instance refreshes of an Auto Scaling group: their history, the progress of the newest one, how many in
// a row have failed, and the preferences with which one is started.
package refresh
