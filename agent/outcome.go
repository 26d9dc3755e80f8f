package agent

// An outcome says what comes after a part of what a driver does. After nil, the next part follows.
// [goOn] leaves the action: the machine says what is next. Every other outcome ends or pauses the
// run.
type outcome struct {
	status  Status
	code    string
	reason  error
	missing []string // what hooks wanted
}

var (
	// goOn is the outcome of an action after which the run goes on, if it can: see driver.cutOff.
	goOn = new(outcome)
	// completes is that of a run that has done what was asked.
	completes = &outcome{status: Completed}
)

// ends reports whether the run ends or pauses.
func (o *outcome) ends() bool { return o != nil && o.status != "" }

func ending(status Status, code string, reason error) *outcome {
	return &outcome{status: status, code: code, reason: reason}
}

func stopping(code string, reason error) *outcome { return ending(Stopped, code, reason) }

func failing(code string, reason error) *outcome { return ending(Failed, code, reason) }
