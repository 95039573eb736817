"""Everyday words for the handbook's terms: what an embedding model has learnt elsewhere and a word index does not know.

A line is a meaning and the words that share it; a star stands for any ending.
"""

from __future__ import annotations

GROUPS = """
cold: cold freez* frost* winter* chill* january snow* heating warm* mat
hot: hot heat* temperature* warm* burning summer
noise: noise nois* loud* hum* buzz* sound* quiet* db acoustic* click* hear audible racket silent
outage: outage* blackout* cut fail* island* backup grid emergency mains dark survive gale storm
internet: internet wifi wlan network* ethernet router* offline online connect* wireless dhcp ghz
money: money pric* tariff* rate* cheap* bill* cost* pay* contract* euro* spread afford*
broken: broken defect* fault* fail* damag* dent* crush* faulty wrong bug
wall: wall* masonry brick* stud* plasterboard drywall partition bracket* hang* concrete
water: water* flood* rain* wet damp* moisture ip65 basement cellar* dry
sun: sun* solar panel* pv roof string* tracker* surplus shade* shading forecast
car: car* vehicle* wallbox* charger* ev park* driv* garage*
street: street export feeding grid utility operator sending back feed* zero
measure: measur* sensor* clamp* meter* watch* monitor* reading* ring*
gate: gate little small box device
battery: battery cabinet* unit storage box cells accumulator thing
drain: drain* discharg* empty* run deplet* drew
charge: charg* fill* top* full percent* percentage
carry: carry* lift* stairs weigh* heavy weight people straps
attic: attic loft* roof upstairs room* bedroom*
fasten: tight* torque* bolt* screw* nm
fire: fire* smoke smell odour burn* flame* extinguish* powder
clean: clean* dust* dirt* grime* wash* vacuum* wipe* filter
inspect: inspect* check* professional fitter* electrician* installer* technician
refund: refund* return* unpack* unopened mind shop
warranty: warrant* guarant* cover* protect* replacement term claim*
report: report* claim* case help complain* hotline
ownership: owner* buyer* sell* sale moving move* moved hand home house
person: partner wife husband member* invite* account* user* family household owner
phone: phone* telephone* mobile smartphone* android ios app iphone
browser: browser* web page local computer laptop
export: spreadsheet* csv export* excel history month* numbers
notify: notif* notice* ping* alert* messag* sound push webhook*
night: night* dark 3am evening sleep* am
light: light* lamp* glow* led puls* breath* flash* blink* white green amber dim*
restart: restart* reboot* reset* again cycle
update: updat* patch* firmware release* upgrade* version*
key: log login key* token* password* bearer auth* rest api interface*
firewall: firewall allow port* outgoing tcp udp opened
spy: spy* privacy shar* stored server* consumption figures data readings tie
old: old older outdated previous former edition withdrawn rules years
long: lengthen* extension* extend* longer lead* cable* wire* wiring cord
thick: thick* cross section mm² copper cable* wire*
extend: bigger extend* extension* add* expand* larger more module*
holiday: holiday* vacation* away absence* trip travel*
child: child* toddler* kid* baby children pets lock*
heart: heart implant* pacemaker* medical
vehicle-own: own private fetch carry transport* carrier*
dispose: dispos* rid worn recycl* takes collection points disposal
service: service hotline ring call* support whom line phone
permission: permission permit* announce* register* object utility operator
paperwork: paperwork document* record upload* send form
pair: pair* two second side together both
setup: setup set commission* install* start* begin first pairing
off: shut switch* off down properly turn
accuracy: off wrong accur* calibrat* display percentage prediction
peak: peak worst highest quarter fifteen cap limit* draw*
lightning: lightning rod surge* arrester* thunder*
generation: generation newer older revision rev autumn
sign-up: sign* register* cloud account subscription
loss: less loss* keeps back nominal usable label promis* type plate
standby: standby idle nothing eat* draws consumes
clock: clock* time minutes fast gain* oven
cook: cook* oven* stove heat pump* appliance* consumers fridge
tank: tank hot pump contact dry dhw leftover surplus
tree: tree* shade* shading chimney darken*
leak: leak* residual current earth
connector: connector* plug* socket* port* brand* make makes mixed
weakness: weakness* hole* security vulnerab* secure reward* bounty
trial: try test* sandbox simulat* integration
earn: earn* receive* lend* money programme
often: often yearly year* every interval
several: run pair two second side both
nodata: blank data shows screen missing
hours: hours long lasts get through
fan: fan ventilator blower spinning runs
spare: spare replacement part parts order
wait: wait* minutes hold* seconds
ageing: ageing aging capacity remain* health holds used
"""


def meanings(terms: set[str]) -> dict[str, list[str]]:
    """For each of these words the meanings it has, by the lines above."""
    found: dict[str, list[str]] = {}
    for line in GROUPS.strip().splitlines():
        name, _, members = line.partition(": ")
        for member in members.split():
            stem = member.removesuffix("*")
            for term in terms:
                if term == stem or (member.endswith("*") and term.startswith(stem)):
                    found.setdefault(term, []).append(name)
    return {term: sorted(set(names)) for term, names in found.items()}
