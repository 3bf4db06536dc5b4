// The run that is shown: its figures, and what to do about it.
import {
  atVersion, count, counted, dateTime, duration, fixed, percent,
} from './format.js';
import {byId, fill, setText} from './tables.js';

const kRunFormats = {
  accuracy: (run) => percent(run.accuracy, 2),
  accuracy_at: (run) => atVersion(run.evaluated_version),
  best_accuracy: (run) => percent(run.best_accuracy, 2),
  best_at: (run) => atVersion(run.best_version),
  loss: (run) => fixed(run.loss, 4),
  samples: (run) => `of ${count(run.samples)} samples`,
  epoch: (run) => count(Math.min(run.epoch + 1, run.epochs)),
  of_epochs: (run) => `of ${count(run.epochs)}`,
  of_units: (run) => `of ${count(run.units_made)} made`,
};

const kFactFormats = {
  model: (run) => `${run.model}, ${count(run.settings.parameters)} parameters`,
  dataset: (run) => run.dataset,
  rule: (run) => [run.rule, run.settings.rule_settings]
      .filter((text) => text && text !== '{}').join(' '),
  quorum: (run) =>
      run.quorum === 1 ? '1: every result is believed'
                       : `${count(run.quorum)} volunteers who agree`,
  learning_rate: ({settings}) =>
      `${Number(settings.learning_rate.toPrecision(6))}, ` +
      `${settings.lr_schedule}`,
  momentum: ({settings}) => String(Number(settings.momentum.toPrecision(6))),
  weight_decay: ({settings}) =>
      String(Number(settings.weight_decay.toPrecision(6))),
  batch: ({settings}) => counted(settings.batch, 'sample'),
  codec: ({settings}) => settings.codec,
  local_steps: ({settings}) =>
      settings.local_steps === 0 ? 'adapted to the host’s speed'
                                 : count(settings.local_steps),
  share: (run) =>
      run.share === 0 ? '0: what other runs leave' : String(run.share),
  hosts_part: (run) => percent(run.hosts_part, 1),
  until: (run) => run.until ?? 'its samples are used up',
  seed: ({settings}) => String(settings.seed),
  created: (run) => dateTime(run.created),
  ended: (run) => dateTime(run.ended),
  id: (run) => run.id,
  name: (run) => run.run,
};

// Why the run stands still, and what its operator types: [reason, command], or
// null when all is well.
function advice(run, hostsActive) {
  if (run.state === 'paused') {
    return run.reason
        ? [`Paused by the server: ${run.reason}.`,
           `quorate -C my-project train stop ${run.run}`]
        : ['Paused by the operator. To go on:',
           `quorate -C my-project train resume ${run.run}`];
  }
  if (run.state === 'finished' || run.state === 'stopped') {
    const ended = run.state === 'finished' ? 'Finished' : 'Stopped';
    const why = run.reason ? `: ${run.reason}` : '';
    return [`${ended} ${dateTime(run.ended)}${why}. To get the best version as a ` +
                'file:',
            `quorate -C my-project export ${run.run} --out model.safetensors`];
  }
  if (run.waits) return [`The run ${run.waits}.`, ''];
  if (hostsActive === 0) {
    return ['No volunteer’s host is active now. Send volunteers the ' +
            'command under “Join in”.', ''];
  }
  return null;
}

function timeLeft(run) {
  if (run.state !== 'running') return '';
  if (run.progress >= 1) return 'handed out; the last results are on their way';
  return Number.isFinite(run.seconds_left)
      ? `handed out, about ${duration(run.seconds_left)} left`
      : 'of the samples handed out';
}

function showAdvice(run, hostsActive) {
  const said = advice(run, hostsActive);
  byId('run-advice').hidden = !said;
  if (!said) return;
  byId('run-advice').dataset.state = run.state;
  setText(byId('run-reason'), said[0]);
  setText(byId('run-todo'), said[1]);
  byId('run-command-box').hidden = !said[1];
}

function showUnverified(run) {
  byId('run-unverified').hidden = !run.unverified;
  if (!run.unverified) return;
  setText(byId('run-unverified'),
          `Not verified: ${counted(run.unverified, 'result')} in the model ` +
          'were accepted by the operator without recomputation.');
}

// Everything of the run but its curves and units. hostsActive: how many
// volunteers' hosts are there.
export function showRun(run, hostsActive) {
  const state = byId('run-state');
  setText(state, run.state);
  state.dataset.state = run.state;
  setText(byId('run-name'), run.run);
  setText(byId('run-settings'), `${run.model} on ${run.dataset}`);
  showAdvice(run, hostsActive);
  showUnverified(run);
  byId('run-progress').value = run.progress;
  setText(byId('run-percent'), percent(run.progress, 1));
  setText(byId('run-left'), timeLeft(run));
  fill(byId('run-body'), kRunFormats, run);
  fill(byId('facts'), kFactFormats, run);
  byId('ledger').href = `/v1/runs/${encodeURIComponent(run.run)}/ledger`;
}
