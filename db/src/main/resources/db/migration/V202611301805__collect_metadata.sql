-- Nights now deliver metadata, too: they look once more at what was delivered without them.
update arrival a
set waiting = true
from origin o
where o.origin_id = a.origin_id and o.kind = 'flywheel' and a.experiment_id is not null and a.state <> 'GONE' and a.dismissed_at is null;
